"""The format of ``oche-tiny``: one token for the kind, one for each coordinate.

``<|click|><x12><y7>`` is a click in the 13th of 40 columns and the 8th of 40 rows
of the picture; ``<|type|>Bob`` types. Every name in angle brackets is one token of
the vocabulary (see ``SPECIAL_TOKENS``), so an answer is three to a dozen tokens.
"""

import re
from typing import Final

from agents.coordinates import ScreenView
from agents.errors import ParseError
from environments.actions import (
    Action,
    Click,
    Complete,
    DoubleClick,
    Drag,
    Fail,
    Key,
    Move,
    RightClick,
    Scroll,
    Type,
    Wait,
)
from environments.errors import InvalidAction

NUM_BINS: Final = 40
"""Columns, and rows, that the picture is divided into; 4 px each at 160 px."""

_POINTED: Final[dict[str, type[Click | DoubleClick | RightClick | Move]]] = {
    cls.kind: cls for cls in (Click, DoubleClick, RightClick, Move)
}
_BARE: Final[dict[str, type[Complete | Fail]]] = {
    cls.kind: cls for cls in (Complete, Fail)
}
_KINDS: Final = (
    *_POINTED,
    Drag.kind,
    Scroll.kind,
    Type.kind,
    Key.kind,
    Wait.kind,
    *_BARE,
)

SPECIAL_TOKENS: Final = (
    *(f"<|{kind}|>" for kind in _KINDS),
    *(f"<x{bin_}>" for bin_ in range(NUM_BINS)),
    *(f"<y{bin_}>" for bin_ in range(NUM_BINS)),
)
"""What a tokenizer must know as single tokens."""

_KIND = re.compile(r"<\|([a-z_]+)\|>")
_POINT = re.compile(r"<x(\d+)><y(\d+)>")
_KEY_NAMES: Final = {"+": "plus", " ": "space"}
_KEYS_BY_NAME: Final = {name: key for key, name in _KEY_NAMES.items()}


def _bin(fraction: float) -> int:
    return min(NUM_BINS - 1, max(0, int(fraction * NUM_BINS)))


def _render_point(x: float, y: float, view: ScreenView) -> str:
    u, v = view.from_screen(x, y)
    return f"<x{_bin(u)}><y{_bin(v)}>"


def render(action: Action, view: ScreenView) -> str:
    """Write an action as a model answers it.

    Points are rounded to the middle of a bin: at most 1/80 of the view off.

    Raises:
        InvalidAction: If the format has no words for the action.
    """
    head = f"<|{action.kind}|>"
    match action:
        case Click() | DoubleClick() | RightClick() | Move():
            return head + _render_point(action.x, action.y, view)
        case Drag():
            start = _render_point(action.x, action.y, view)
            return head + start + _render_point(action.to_x, action.to_y, view)
        case Scroll():
            point = _render_point(action.x, action.y, view)
            return f"{head}{point}{action.direction} {action.amount}"
        case Type():
            return head + action.text
        case Key():
            return head + "+".join(_KEY_NAMES.get(key, key) for key in action.keys)
        case Wait():
            return f"{head}{action.seconds:g}"
        case Complete() | Fail():
            return head
    raise InvalidAction(f"the compact format has no words for {action.kind}")


def parse(text: str, view: ScreenView) -> Action:
    """Read an answer.

    Raises:
        ParseError: With the place where reading stopped and what was expected.
    """
    kind, rest = _parse_kind(text)
    try:
        if kind in _POINTED:
            x, y, rest = _parse_point(rest, view)
            _expect_end(rest)
            return _POINTED[kind](x=x, y=y)
        if kind == Drag.kind:
            x, y, rest = _parse_point(rest, view)
            to_x, to_y, rest = _parse_point(rest, view)
            _expect_end(rest)
            return Drag(x=x, y=y, to_x=to_x, to_y=to_y)
        if kind == Scroll.kind:
            return _parse_scroll(rest, view)
        if kind == Type.kind:
            return Type(text=rest)
        if kind == Key.kind:
            return _parse_keys(rest)
        if kind == Wait.kind:
            return _parse_wait(rest)
        _expect_end(rest)
        return _BARE[kind]()
    except InvalidAction as error:
        raise ParseError(str(error)) from error


def _parse_kind(text: str) -> tuple[str, str]:
    match = _KIND.match(text)
    if match is None or match[1] not in _KINDS:
        raise ParseError(f"expected an action token such as <|click|>, {_found(text)}")
    return match[1], text[match.end() :]


def _parse_point(text: str, view: ScreenView) -> tuple[float, float, str]:
    match = _POINT.match(text)
    if match is None:
        raise ParseError(f"expected a point such as <x12><y7>, {_found(text)}")
    column, row = int(match[1]), int(match[2])
    if not (column < NUM_BINS and row < NUM_BINS):
        raise ParseError(f"columns and rows end at {NUM_BINS - 1}, {_found(text)}")
    x, y = view.to_screen((column + 0.5) / NUM_BINS, (row + 0.5) / NUM_BINS)
    return x, y, text[match.end() :]


def _parse_scroll(text: str, view: ScreenView) -> Scroll:
    x, y, rest = _parse_point(text, view)
    match = re.fullmatch(r"(up|down|left|right) ([1-9]\d?)", rest)
    if match is None:
        raise ParseError(f"expected a direction and notches, {_found(rest)}")
    return Scroll(x=x, y=y, direction=match[1], amount=int(match[2]))  # type: ignore[arg-type]


def _parse_keys(text: str) -> Key:
    names = text.split("+")
    if not all(names):
        raise ParseError(f"expected key names joined by +, {_found(text)}")
    return Key(keys=tuple(_KEYS_BY_NAME.get(name, name) for name in names))


def _parse_wait(text: str) -> Wait:
    if re.fullmatch(r"\d{1,2}(\.\d{1,3})?", text) is None:
        raise ParseError(f"expected seconds, {_found(text)}")
    return Wait(seconds=float(text))


def _expect_end(text: str) -> None:
    if text:
        raise ParseError(f"expected the end of the answer, {_found(text)}")


def _found(text: str) -> str:
    return f"found {text[:40]!r}" if text else "found the end"
