"""What a policy is shown: the history of an episode as a chat.

The compact context has one picture, the present screen; the past is the answers
themselves, one a line below the instruction.
"""

from collections.abc import Sequence
from typing import Final

from agents.coordinates import crop_to_view
from agents.types import Message, Prompt, Turn
from environments.types import Observation

MAX_TURNS: Final = 8
"""Past answers that are shown; the oldest fall out first."""


def build_prompt(observation: Observation, turns: Sequence[Turn]) -> Prompt:
    """Make the chat that a policy is asked to continue.

    Args:
        observation: The screen as it is now.
        turns: The episode's earlier decisions, oldest first.
    """
    past = [turn.text for turn in turns[-MAX_TURNS:]]
    text = "\n".join([_as_plain_text(observation.instruction), *past])
    message: Message = {
        "role": "user",
        "content": [{"type": "image"}, {"type": "text", "text": text}],
    }
    return Prompt(messages=[message], images=[crop_to_view(observation)])


def _as_plain_text(instruction: str) -> str:
    """Break up control tokens: an instruction comes from a page, which may be hostile."""
    return instruction.replace("<|", "< |").replace("\n", " ")
