"""Side effects that follow a commit."""

from collections.abc import Callable
from typing import ParamSpec

from django.db import transaction

P = ParamSpec("P")


def after_commit(call: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
    """Call once the transaction is committed; a failure is logged and undoes nothing.

    Not ``functools.partial``: to log a failure Django wants the callback's name, which
    a partial lacks, and would then fail itself.
    """

    def later() -> None:
        call(*args, **kwargs)

    transaction.on_commit(later, robust=True)
