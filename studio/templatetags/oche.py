"""How pages write statuses, times, shares and small drawings: one place for each."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from django import template
from django.template.context import RequestContext
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from studio.common.statuses import STATUSES, UNKNOWN
from training.charts.figures import spark_points
from training.selectors import runs_visible_to
from training.states import RUN_ACTIVE

register = template.Library()

UNITS: Final = ((86400, "days"), (3600, "h"), (60, "min"))


@register.simple_tag
def icon(name: str, size: str = "", label: str = "") -> SafeString:
    """Return an icon of the sprite; with a label it speaks for itself."""
    css = f"icon icon-{size}" if size else "icon"
    if label:
        return format_html(
            '<svg class="{}" role="img" aria-label="{}"><use href="#i-{}"/></svg>',
            css,
            label,
            name,
        )
    return format_html(
        '<svg class="{}" aria-hidden="true"><use href="#i-{}"/></svg>', css, name
    )


@register.simple_tag
def badge(status: str, look: str = "", word: str = "") -> SafeString:
    """Return a status as icon and word; ``look`` may be ``plain``."""
    known = STATUSES.get(status, UNKNOWN)
    css = " ".join(
        ["badge", *([f"badge-{known.role}"] if known.role != "quiet" else [])]
        + ([f"badge-{look}"] if look else [])
    )
    return format_html(
        '<span class="{}">{}{}</span>',
        css,
        icon(known.icon),
        word or known.word or str(status).replace("_", " ").capitalize(),
    )


@register.simple_tag
def ago(moment: datetime | None) -> SafeString:
    """Return a time as people say it, the exact one in the tooltip."""
    if moment is None:
        return SafeString('<span class="muted">—</span>')
    return format_html(
        '<time datetime="{}" title="{}" data-ago>{}</time>',
        moment.isoformat(),
        f"{moment:%-d %b %Y, %H:%M:%S} UTC",
        ago_words((timezone.now() - moment).total_seconds()),
    )


def ago_words(seconds: float) -> str:
    """Return how long ago something was; ``studio.js`` has the same rule."""
    if seconds < 2:
        return "just now"
    for size, unit in UNITS:
        if seconds >= size:
            number = int(seconds // size)
            if unit == "days" and number == 1:
                return "yesterday"
            return f"{number} {unit} ago"
    return f"{int(seconds)} s ago"


@register.filter
def duration(seconds: float | str | None) -> str:
    """Return seconds as ``3 h 12 min``, ``4 min 05 s`` or ``0.7 s``."""
    # What was not measured yet is an empty text in a template.
    if seconds is None or isinstance(seconds, str):
        return "—"
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"


@register.filter
def percent(share: float | None, digits: int = 1) -> str:
    """Return 0…1 as a number of percent, without the sign."""
    return "—" if share is None else f"{share * 100:.{digits}f}"


@register.filter
def short(identifier: object) -> str:
    """Return the beginning of an id, enough to tell things apart."""
    return str(identifier)[:8]


@register.filter
def signed(value: float | None) -> str:
    """Return a number with its sign: ``+1.00``, ``−0.50``."""
    return "—" if value is None else f"{value:+.2f}".replace("-", "−")


@register.filter
def initials(name: str) -> str:
    """Return up to two letters for an avatar."""
    return name[:2].upper()


@register.filter
def item(mapping: Mapping[str, Any], key: str) -> Any:
    """Return a mapping's value; templates cannot look up by variable."""
    return mapping.get(key)


@register.simple_tag
def spark(values: Sequence[float], label: str, colour: int = 1) -> SafeString:
    """Return a small line with the area below it; nothing with fewer than two values."""
    points = spark_points(values)
    if not points:
        return SafeString('<span class="spark"></span>')
    return format_html(
        '<svg class="spark" viewBox="0 0 120 24" preserveAspectRatio="none" role="img" '
        'aria-label="{0}"><polygon class="band c{1}" points="0,24 {2} 120,24"/>'
        '<polyline class="line c{1}" points="{2}"/></svg>',
        label,
        colour,
        points,
    )


@register.simple_tag(takes_context=True)
def num_active_runs(context: RequestContext) -> int:
    """Count the user's runs that processes work on."""
    user = context["user"]
    return runs_visible_to(user).filter(status__in=RUN_ACTIVE).count()


@register.simple_tag(takes_context=True)
def sort_link(context: RequestContext, field: str, label: str) -> SafeString:
    """Return the head of a sortable column: a link that sorts, or turns the order."""
    request = context["request"]
    order = str(context.get("order") or "")
    is_this = order.lstrip("-") == field
    query = request.GET.copy()
    query["order"] = field if order == f"-{field}" else f"-{field}"
    query.pop("page", None)
    arrow = icon("down" if order.startswith("-") else "up", "sm") if is_this else ""
    return format_html(
        '<a class="table-sort" href="?{}" aria-current="{}">{}{}</a>',
        query.urlencode(),
        "true" if is_this else "false",
        label,
        arrow,
    )


@register.filter
def as_json(value: Any) -> str:
    """Return JSON for a ``data-`` attribute; the template escapes it."""
    return json.dumps(value, ensure_ascii=False)


@register.simple_tag
def advantage_bar(advantage: float | None) -> SafeString:
    """Return the bar of an advantage in a box from -100 to 100; 2.65 is √(8-1)."""
    if not advantage:
        return SafeString()
    width = min(100.0, abs(advantage) / 2.65 * 100)
    return format_html(
        '<rect class="advantage-{}" x="{}" y="2" width="{}" height="6"/>',
        "pos" if advantage > 0 else "neg",
        f"{0 if advantage > 0 else -width:.1f}",
        f"{width:.1f}",
    )
