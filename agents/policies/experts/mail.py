"""How experts deal with mail: find the sender, then star, delete, answer or forward."""

from typing import Final

_MAIL: Final = r"""(() => {
  const fields = typeof said === 'string' ? {} : said.fields;
  const by = fields.by || /email by (\S+) and/.exec(q)[1];
  const task = fields.task || (fields.to ? 'forward' : /forward|reply|trash|star/.exec(q)[0]);
  const what = {delete: 'trash', important: 'star'}[task] || task;
  if (isShown(one('#reply'))) {
    return fill(one('#reply-text'), fields.message || quoted(0)) || click(one('#send-reply'));
  }
  if (isShown(one('#forward'))) {
    const to = fields.to || /that email to (.*)\.$/.exec(q)[1];
    return fill(one('#forward .forward-sender'), to) || click(one('#send-forward'));
  }
  if (isShown(one('#email'))) {
    if (text(one('#email .email-sender')) !== by) return reach(one('#close-email'));
    return reach(one({reply: '.email-reply', forward: '.email-forward'}[what] || '#email .' + what));
  }
  if (isShown(one('#search'))) return click(one('#search-cancel'));
  // One sender may have written twice; the page means one of the two.
  const thread = all('#main .email-thread').find((e) => {
    const {emails, expectedDetails} = $._data(e, 'events').click[0].data;
    return emails[e.dataset.index] === expectedDetails.email;
  });
  const isIcon = what === 'trash' || what === 'star';
  return reach(thread.querySelector(isIcon ? '.' + what : '.email-sender'));
})()"""

EXPERTS: Final[dict[str, str]] = dict.fromkeys(
    (
        "email-inbox",
        "email-inbox-delete",
        "email-inbox-forward",
        "email-inbox-forward-nl",
        "email-inbox-forward-nl-turk",
        "email-inbox-important",
        "email-inbox-nl-turk",
        "email-inbox-noscroll",
        "email-inbox-reply",
        "email-inbox-star-reply",
    ),
    _MAIL,
)
