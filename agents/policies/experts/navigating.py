"""How experts find their way: tabs, sections, menus, trees, pages of results, feeds."""

from typing import Final

# What is hidden is looked for in order, as somebody would who does not know where it is.
_SECTION: Final = r"""(() => {
  const link = all('.alink').find((e) => isShown(e) && text(e) === quoted(0));
  if (link) return reach(link);
  const headers = all('#area .ui-accordion-header');
  const open = headers.findIndex((e) => e.classList.contains('ui-accordion-header-active'));
  return click(headers[(open + 1) % headers.length]);
})()"""
_TAB: Final = r"""(() => {
  const link = all('.alink').find((e) => isShown(e) && text(e) === quoted(0));
  if (link) return click(link);
  const tabs = all('.ui-tabs-tab');
  const open = tabs.findIndex((e) => e.classList.contains('ui-tabs-active'));
  return click(tabs[(open + 1) % tabs.length].querySelector('a'));
})()"""
# A click on an item with a submenu counts as a choice: the pointer opens it.
_MENU: Final = r"""
const open = (item) => {
  const wrapper = item.querySelector('div');
  return wrapper.classList.contains('ui-state-active') ? wait(0.4, wrapper) : moveTo(wrapper);
};
"""
_POSTS: Final = r"""
const [, label] = /the "([^"]*)" button/.exec(q);
const name = Object.keys(ACTIONS).find((key) => ACTIONS[key] === label);
const posts = (user) => all('.media').filter((e) => text(e.querySelector('.username')) === user);
"""

EXPERTS: Final[dict[str, str]] = {
    "click-collapsible": (
        "$('.ui-accordion-content:visible').length ? submit() : click(one('#area h3'))"
    ),
    "click-collapsible-2": _SECTION,
    "click-collapsible-2-nodelay": _SECTION,
    "click-collapsible-nodelay": (
        "$('.ui-accordion-content:visible').length ? submit() : click(one('#area h3'))"
    ),
    "click-menu": rf"""(() => {{ {_MENU}
        const path = q.replace('Select ', '').split('>');
        let list = one('#menu');
        for (const name of path) {{
          const item = Array.from(list.children).find((e) => text(e.querySelector('div')) === name);
          if (name === path[path.length - 1]) return click(item.querySelector('div'));
          list = item.querySelector('ul');
          if (!isShown(list)) return open(item);
        }}
        return null;
    }})()""",
    "click-menu-2": rf"""(() => {{ {_MENU}
        if (!isShown(one('#menu'))) return click(one('#open-menu'));
        const icon = one('#query .ui-icon');
        const leaves = all('#menu li').filter((e) => !e.querySelector('ul'));
        const leaf = leaves.find((e) => (icon
          ? e.querySelector('.ui-icon').className === icon.className
          : text(e) === quoted(1)));
        return isShown(leaf) ? click(leaf.querySelector('div'))
          : open(leaf.parentElement.closest('li'));
    }})()""",
    "click-tab-2": _TAB,
    "click-tab-2-easy": _TAB,
    "click-tab-2-hard": _TAB,
    "click-tab-2-medium": _TAB,
    "navigate-tree": r"""(() => {
        const name = all('#tree span').find((e) => isShown(e) && text(e) === quoted(0));
        return click(name || all('#tree .expandable > .hitarea').find(isShown));
    })()""",
    "phone-book": r"""(() => {
        const [, name, what] = /^Find (.*) in the contact book .* their (\w+)/.exec(q);
        if (text(one('#contact .name')) === name) return click(one('#contact .' + what));
        return click(one('#pagination .next a'));
    })()""",
    "search-engine": r"""(() => {
        const nth = Number(/click the (\d)/.exec(q)[1]) - 1;
        const move = fill(one('#search-text'), quoted(0));
        if (move) return move;
        if (!one('#page-content a')) return click(one('#search'));
        const link = one(`#page-content a[data-result="${nth}"]`);
        return click(link || byText('#pagination a', String(Math.floor(nth / 3) + 1)));
    })()""",
    "social-media": rf"""(() => {{ {_POSTS}
        const [post] = posts(/^For the user (\S+), click/.exec(q)[1]);
        const button = post.querySelector('.' + name);
        return reach(isShown(button) ? button : post.querySelector('.more'));
    }})()""",
    "social-media-all": rf"""(() => {{ {_POSTS}
        const user = / posts by (\S+) and/.exec(q)[1];
        const button = posts(user).map((e) => e.querySelector('.' + name))
          .find((e) => !e.classList.contains('active'));
        return reach(button || one('#submitRow button'));
    }})()""",
    "social-media-some": rf"""(() => {{ {_POSTS}
        const [, amount, user] = / on (\d+) posts? by (\S+) and/.exec(q);
        const button = posts(user).slice(0, Number(amount))
          .map((e) => e.querySelector('.' + name)).find((e) => !e.classList.contains('active'));
        return reach(button || one('#submitRow button'));
    }})()""",
}
