"""How a list reads its query string: one page, one order, nothing that it does not know."""

from collections.abc import Mapping
from typing import TypeVar

from django.core.paginator import Page, Paginator
from django.db.models import F, Model, QuerySet
from django.http import QueryDict

Row = TypeVar("Row", bound=Model)

PAGE_SIZE = 25


def ordered(
    rows: QuerySet[Row], asked: str, allowed: Mapping[str, str], default: str
) -> tuple[QuerySet[Row], str]:
    """Sort by what was asked for, if that is a column.

    Args:
        rows: What to sort.
        asked: ``name`` or ``-name``, from the query string.
        allowed: Column of the page -> field of the model.
        default: The order when none, or an unknown one, was asked for.

    Returns:
        The sorted rows and the order that was taken. Empty values come last.
    """
    order = asked if asked.removeprefix("-") in allowed else default
    field = F(allowed[order.removeprefix("-")])
    descends = order.startswith("-")
    key = field.desc(nulls_last=True) if descends else field.asc(nulls_last=True)
    return rows.order_by(key, "-pk"), order


def paged(rows: QuerySet[Row], query: QueryDict, size: int = PAGE_SIZE) -> "Page[Row]":
    """Return the asked-for page; the nearest one when there is no such page."""
    return Paginator(rows, size).get_page(query.get("page"))
