"""A stored trajectory as its page shows it: steps, marks, tokens, timings. No Django."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from environments.actions import action_from_dict
from environments.errors import InvalidAction
from training.rollouts.store import (
    TrajectoryUnreadable,
    read_tokens,
    read_trajectory,
)

NUM_BINS: Final = 10
LEAST_ENTROPY_SCALE: Final = 1.0
"""Nats; below it, differences of entropy are noise and shall not look like peaks."""
LOGPROB_SCALE: Final = 4.6
"""Nats; a token of 1 % is at the end of the scale."""

ICONS: Final = {
    "click": "pointer",
    "double_click": "pointer",
    "right_click": "pointer",
    "move": "pointer",
    "drag": "drag",
    "scroll": "scroll",
    "type": "type",
    "key": "keyboard",
    "wait": "clock",
    "complete": "flag",
    "fail": "flag",
}

PHASES: Final = {
    "queue": ("Queue", "wait", 12, 10),
    "model": ("Model", "wait", 6, 16),
    "environment": ("Action and screen", "busy", 2, 20),
}
"""Timing -> words, lane, top and height of its bar in the 24-px lane."""


class ReplayMissing(Exception):
    """The trajectory's files are not there, or cannot be read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """One token of an answer."""

    text: str
    title: str
    entropy_bin: int
    logprob_bin: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Phase:
    """One part of a step's time, and its bar in milliseconds."""

    label: str
    lane: str
    seconds: float
    x: int
    width: int
    y: int
    height: int


@dataclass(frozen=True, kw_only=True, slots=True)
class StepView:
    """One step."""

    number: int
    """From 1."""
    kind: str
    icon: str
    words: str
    """The action in words; empty when the answer could not be read."""
    text: str
    parse_error: str
    executed: str
    before: str
    after: str
    """Hashes of the screens."""
    marks: Mapping[str, Any]
    """What ``marks.js`` draws: action, size, focus."""
    size: tuple[int, int]
    model_images: Sequence[Mapping[str, Any]]
    messages: Sequence[tuple[str, str]]
    """Role and text, pictures as ``[picture]``."""
    tokens: Sequence[Token]
    mean_entropy: float | None
    versions: str
    num_prompt_tokens: int
    num_response_tokens: int
    phases: Sequence[Phase]

    @property
    def seconds(self) -> float:
        """Return how long the step took."""
        return sum(phase.seconds for phase in self.phases)

    @property
    def lane_width(self) -> int:
        """Return the length of the time line in milliseconds."""
        return max(1, sum(phase.width for phase in self.phases))


@dataclass(frozen=True, kw_only=True, slots=True)
class Replay:
    """A trajectory."""

    instruction: str
    steps: Sequence[StepView]
    entropy_scale: float
    """Nats at the end of the scale."""
    reset_s: float

    @property
    def seconds(self) -> float:
        """Return how long the episode took."""
        return self.reset_s + sum(step.seconds for step in self.steps)


def read_replay(folder: Path) -> Replay:
    """Read a trajectory's folder.

    Raises:
        ReplayMissing: If a file is missing or damaged.
    """
    try:
        return _replay(read_trajectory(folder), read_tokens(folder))
    except TrajectoryUnreadable as error:
        raise ReplayMissing(str(error)) from error
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise ReplayMissing(f"{folder.name} lacks something: {error!r}") from error


def frames_of(folder: Path) -> frozenset[str]:
    """Return the hashes of every picture that a trajectory names.

    Raises:
        ReplayMissing: If its file is missing or damaged.
    """
    try:
        return frozenset(_frames(read_trajectory(folder)))
    except TrajectoryUnreadable as error:
        raise ReplayMissing(str(error)) from error
    except (KeyError, TypeError) as error:
        raise ReplayMissing(f"{folder.name} lacks something: {error!r}") from error


def describe(action: Mapping[str, Any] | None) -> str:
    """Return an action in a few words: ``click · x 0.394 · y 0.433``."""
    if action is None:
        return ""
    words = [str(action["kind"]).replace("_", " ")]
    for key, value in action.items():
        if key == "kind":
            continue
        if key == "text":
            words.append(f"“{value}”")
        elif key == "keys":
            words.append("+".join(value))
        elif isinstance(value, float):
            words.append(f"{key.replace('_', ' ')} {value:.3f}")
        else:
            words.append(f"{key} {value}")
    return " · ".join(words)


def token_bin(value: float, scale: float) -> int:
    """Return which of the ten tints a value has; ``scale`` is the last one's end."""
    return min(NUM_BINS - 1, max(0, int(value / scale * NUM_BINS)))


def _frames(stored: Mapping[str, Any]) -> Iterator[str]:
    for step in stored["steps"]:
        yield step["screen"]["sha256"]
        yield from (image["sha256"] for image in step["model_images"])
    yield stored["final_screen"]["sha256"]


def _replay(stored: Mapping[str, Any], tensors: Mapping[str, np.ndarray]) -> Replay:
    rows = stored["steps"]
    screens = [row["screen"] for row in rows] + [stored["final_screen"]]
    entropies = [tensors[name] for name in tensors if name.startswith("entropies_")]
    scale = max([LEAST_ENTROPY_SCALE, *(float(e.max()) for e in entropies if e.size)])
    steps: list[StepView] = []
    focus: tuple[float, float] | None = None
    for index, row in enumerate(rows):
        action = _known(row["action"])
        steps.append(
            _step(index, row, action, screens[index + 1], focus, tensors, scale)
        )
        if action and "x" in action:
            focus = (action["x"], action["y"])
    return Replay(
        instruction=stored["instruction"],
        steps=steps,
        entropy_scale=scale,
        reset_s=float(stored.get("reset_s", 0.0)),
    )


def _step(
    index: int,
    row: Mapping[str, Any],
    action: Mapping[str, Any] | None,
    after: Mapping[str, Any],
    focus: tuple[float, float] | None,
    tensors: Mapping[str, np.ndarray],
    scale: float,
) -> StepView:
    screen = row["screen"]
    size = (int(screen["width"]), int(screen["height"]))
    entropies = tensors.get(f"entropies_{index}")
    kind = str(action["kind"]) if action else "unread"
    return StepView(
        number=index + 1,
        kind=kind.replace("_", " "),
        icon=ICONS.get(kind, "warn"),
        words=describe(action),
        text=row["text"],
        parse_error=row.get("parse_error") or "",
        executed=_executed(row.get("executed_px")),
        before=screen["sha256"],
        after=after["sha256"],
        marks={"action": action, "size": size, "focus": focus},
        size=size,
        model_images=row["model_images"],
        messages=[_message(message) for message in row["messages"]],
        tokens=_tokens(index, row, tensors, scale),
        mean_entropy=float(entropies.mean())
        if entropies is not None and entropies.size
        else None,
        versions=_versions(row.get("versions")),
        num_prompt_tokens=int(row.get("num_prompt_tokens", 0)),
        num_response_tokens=int(row.get("num_response_tokens", 0)),
        phases=_phases(row.get("timings_s", {})),
    )


def _known(action: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the action, unless it is one that this release does not know."""
    if action is None:
        return None
    try:
        action_from_dict(dict(action))
    except InvalidAction:
        return None
    return action


def _executed(pixels: Mapping[str, int] | None) -> str:
    if not pixels:
        return ""
    words = f"{pixels['x']}, {pixels['y']} px"
    if "to_x" in pixels:
        words += f" to {pixels['to_x']}, {pixels['to_y']} px"
    return words


def _versions(versions: Sequence[int] | None) -> str:
    if not versions or versions[0] is None:
        return ""
    low, high = versions
    return f"v{low}" if low == high else f"v{low} – v{high}"


def _message(message: Mapping[str, Any]) -> tuple[str, str]:
    content = message["content"]
    if isinstance(content, str):
        return str(message["role"]), content
    parts = [
        part["text"] if part["type"] == "text" else "[picture]" for part in content
    ]
    return str(message["role"]), "\n".join(parts)


def _tokens(
    index: int,
    row: Mapping[str, Any],
    tensors: Mapping[str, np.ndarray],
    scale: float,
) -> list[Token]:
    texts = row.get("token_texts") or []
    entropies = tensors.get(f"entropies_{index}", np.zeros(0))
    logprobs = tensors.get(f"logprobs_{index}", np.zeros(0))
    versions = tensors.get(f"versions_{index}", np.zeros(0, dtype=np.int32))
    return [
        Token(
            text=text,
            title=f"{text} · H {entropy:.2f} nats · p {np.exp(logprob):.2f} · v{version}",
            entropy_bin=token_bin(float(entropy), scale),
            logprob_bin=token_bin(-float(logprob), LOGPROB_SCALE),
        )
        for text, entropy, logprob, version in zip(
            texts, entropies, logprobs, versions, strict=False
        )
    ]


def _phases(timings_s: Mapping[str, float]) -> list[Phase]:
    phases: list[Phase] = []
    x = 0
    for name, (label, lane, y, height) in PHASES.items():
        if name not in timings_s:
            continue
        seconds = float(timings_s[name])
        width = round(seconds * 1000)
        phases.append(
            Phase(
                label=label,
                lane=lane,
                seconds=seconds,
                x=x,
                width=width,
                y=y,
                height=height,
            )
        )
        x += width
    return phases
