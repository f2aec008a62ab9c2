"""What an expert does next on each page, as JavaScript that looks at the page.

A script sees the page as it is and answers with one move, so it carries on from
wherever a policy, a person or an accident has left the episode.
"""

from typing import Final

from agents.policies.experts import (
    choosing,
    clicking,
    dragging,
    drawing,
    flights,
    mail,
    navigating,
    reading,
    reasoning,
    timing,
    travel,
    typing,
)
from agents.policies.experts.helpers import HELPERS

EXPERTS: Final[dict[str, str]] = {
    **clicking.EXPERTS,
    **choosing.EXPERTS,
    **typing.EXPERTS,
    **reading.EXPERTS,
    **dragging.EXPERTS,
    **drawing.EXPERTS,
    **navigating.EXPERTS,
    **mail.EXPERTS,
    **travel.EXPERTS,
    **reasoning.EXPERTS,
    **timing.EXPERTS,
    **flights.EXPERTS,
}
"""Task name -> an expression over ``HELPERS``; null where there is nothing to do."""

__all__ = ["EXPERTS", "HELPERS"]
