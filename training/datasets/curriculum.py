"""What the bundled base policy is taught: whole easy tasks, and parts of harder ones.

Left out on purpose, for reinforcement learning to find: every way through
``fill-nth``, ``enter-password``, ``login-user``, ``click-collapsible`` and
``click-button-sequence``. Their pages appear, their chains do not.
"""

import random
from typing import Final

from agents.policies import fragments
from training.datasets.demonstrations import Lesson

TASK_EPISODES: Final = {
    "enter-text": 1500,
    "enter-text-dynamic": 500,
    "focus-text": 300,
    "focus-text-2": 900,
    "click-dialog": 500,
    "click-dialog-2": 900,
    "click-tab": 700,
    "click-widget": 900,
    "click-test": 200,
    "click-test-2": 900,
    "click-button": 900,
    "click-option": 600,
    "click-link": 300,
}
FRAGMENT_EPISODES: Final = {
    "press": 350,
    "fill": 700,
    "fill-both": 1500,
    "fill-login": 1200,
    "type": 200,
    "type-then-press": 600,
    "click-field": 300,
    "expand": 400,
    "click-named": 500,
    "select": 300,
}
"""By kind; each page of the kind gets as many."""

REPHRASED_SHARE: Final = 0.5
BLOCK: Final = 25
"""Lessons that are played on one page in a row."""


def base_lessons(*, share: float = 1.0, seed: int = 0) -> list[Lesson]:
    """Return the base policy's lessons in a mixed order that the seed fixes.

    They come in blocks of one page: going to another page costs more than an episode.

    Args:
        share: Of the full number of episodes; small ones are for trying things out.
        seed: Of the order and of which instructions are rephrased.
    """
    rng = random.Random(seed)  # noqa: S311 - order, no secret
    lessons = [
        Lesson(name=name, seed=number, rephrase=rng.random() < REPHRASED_SHARE)
        for name, episodes in TASK_EPISODES.items()
        for number in range(round(episodes * share))
    ]
    for name in fragments.NAMES:
        episodes = FRAGMENT_EPISODES[name.split("/")[0]]
        lessons += [
            Lesson(name=name, seed=number, is_fragment=True)
            for number in range(round(episodes * share))
        ]
    blocks = [lessons[start : start + BLOCK] for start in range(0, len(lessons), BLOCK)]
    rng.shuffle(blocks)
    return [lesson for block in blocks for lesson in block]
