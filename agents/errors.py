"""What can go wrong between a prompt and an action."""

from typing import ClassVar


class AgentsError(Exception):
    """Base of every error that this package raises on purpose."""

    code: ClassVar[str] = "agents.error"


class ParseError(AgentsError):
    """A model's answer is not in its format; the message says where it stopped."""

    code = "agents.parse_error"


class PolicyInvalid(AgentsError):
    """A policy folder lacks something or does not fit; the message names it."""

    code = "agents.policy_invalid"


class InferenceFailed(AgentsError):
    """No inference worker answered before the deadline."""

    code = "model"


class SyncFailed(AgentsError):
    """An inference worker could not take new weights."""

    code = "agents.sync_failed"
