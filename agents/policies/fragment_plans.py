"""What each fragment says, how an expert follows it, and what happened before it."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from agents.policies import wordings


@dataclass(frozen=True, kw_only=True, slots=True)
class Scene:
    """What a plan is made for."""

    task: str
    """The page."""
    instruction: str
    """The page's own instruction."""
    rng: random.Random


@dataclass(frozen=True, kw_only=True, slots=True)
class _Field:
    selector: str
    """JavaScript that finds the input."""
    names: tuple[str, ...]
    """Ways to call it."""
    label: str = ""
    """What belongs into it, such as ``username``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """An instruction and how an expert follows it."""

    instruction: str
    script: str
    """The expert, over ``experts.HELPERS``; it answers null when it is done."""
    max_moves: int = 1
    preparation: tuple[str, ...] = ()
    """Scripts that play what happened before."""


def _nth_field(index: int) -> _Field:
    nth = ("1st", "2nd", "3rd")[index]
    word = ("first", "second", "third")[index]
    return _Field(
        selector=f"all('#area input')[{index}]",
        names=(
            f"{nth} input textbox",
            f"{nth} textbox",
            f"{nth} text field",
            f"{word} textbox",
            f"{word} input field",
        ),
    )


_TEXT_FIELD = _Field(
    selector="one('#tt')", names=("text field", "textbox", "text box", "input field")
)
_THREE_FIELDS = (_nth_field(0), _nth_field(1), _nth_field(2))
_FIELDS: Final[dict[str, tuple[_Field, ...]]] = {
    "enter-text": (_TEXT_FIELD,),
    "enter-text-dynamic": (_TEXT_FIELD,),
    "fill-nth": _THREE_FIELDS,
    "enter-password": (
        _Field(
            selector="one('#password')",
            names=("password field", "first text field", "1st input textbox"),
            label="password",
        ),
        _Field(
            selector="one('#verify')",
            names=(
                "verify password field",
                "verification field",
                "second text field",
                "2nd input textbox",
            ),
        ),
    ),
    "login-user": (
        _Field(
            selector="one('#username')",
            names=("username field", "first text field", "1st input textbox"),
            label="username",
        ),
        _Field(
            selector="one('#password')",
            names=("password field", "second text field", "2nd input textbox"),
            label="password",
        ),
    ),
}


def _fill_script(field: _Field, text: str) -> str:
    return f"fill({field.selector}, {json.dumps(text)})"


def _click_script(field: _Field) -> str:
    return f"click({field.selector})"


def _earlier_filling(fields: tuple[_Field, ...], rng: random.Random) -> tuple[str, ...]:
    """Make up what was done: nothing, a click, one field, or one field and a click."""
    num_actions = rng.randrange(4)
    order = rng.sample(fields, len(fields))
    if num_actions == 1:
        return (_click_script(order[0]),)
    if num_actions == 0:
        return ()
    click_and_type = (_fill_script(order[0], wordings.random_text(rng)),) * 2
    if num_actions == 2:
        return click_and_type
    return (*click_and_type, _click_script(order[-1]))


def _before_press(scene: Scene) -> tuple[str, ...]:
    if scene.task in _FIELDS:
        return _earlier_filling(_FIELDS[scene.task], scene.rng)
    if scene.rng.random() < 0.5:
        return ()
    if scene.task == "click-option":
        return ("click(all('#boxes input')[0])",)
    return ("click(one('#area h3'))",)


def _button(scene: Scene) -> str:
    button = "Login" if scene.task == "login-user" else "Submit"
    return button.lower() if scene.rng.random() < 0.3 else button


def _press(scene: Scene) -> Plan:
    return Plan(
        instruction=scene.rng.choice(wordings.PRESS).format(button=_button(scene)),
        script="submit()",
        preparation=_before_press(scene),
    )


def _fill(scene: Scene) -> Plan:
    rng, fields = scene.rng, _FIELDS[scene.task]
    field = rng.choice(fields)
    text = wordings.random_text(rng)
    if field.label and rng.random() < 0.5:
        template = rng.choice(wordings.FILL_NAMED)
        instruction = template.format(text=text, label=field.label)
    else:
        template = rng.choice(wordings.FILL)
        instruction = template.format(text=text, field=rng.choice(field.names))
    others = tuple(other for other in fields if other is not field)
    before: tuple[str, ...] = ()
    if others and rng.random() < 0.4:
        before = (_fill_script(rng.choice(others), wordings.random_text(rng)),) * 2
    return Plan(
        instruction=instruction,
        script=_fill_script(field, text),
        max_moves=2,
        preparation=before,
    )


def _fill_both(scene: Scene) -> Plan:
    text = wordings.random_text(scene.rng)
    scripts = [_fill_script(field, text) for field in _FIELDS[scene.task]]
    return Plan(
        instruction=scene.rng.choice(wordings.FILL_BOTH).format(text=text),
        script=" || ".join(scripts),
        max_moves=4,
    )


def _fill_login(scene: Scene) -> Plan:
    username, password = (wordings.random_text(scene.rng) for _ in range(2))
    texts = zip(_FIELDS[scene.task], (username, password), strict=True)
    return Plan(
        instruction=scene.rng.choice(wordings.FILL_LOGIN).format(
            username=username, password=password
        ),
        script=" || ".join(_fill_script(field, text) for field, text in texts),
        max_moves=4,
    )


def _type(scene: Scene) -> Plan:
    field = scene.rng.choice(_FIELDS[scene.task])
    text = wordings.random_text(scene.rng)
    return Plan(
        instruction=scene.rng.choice(wordings.TYPE).format(text=text),
        script=_fill_script(field, text),
        preparation=(_click_script(field),),
    )


def _type_then_press(scene: Scene) -> Plan:
    field = scene.rng.choice(_FIELDS[scene.task])
    text = wordings.random_text(scene.rng)
    template = scene.rng.choice(wordings.TYPE_THEN_PRESS)
    return Plan(
        instruction=template.format(text=text, button=_button(scene)),
        script=f"{_fill_script(field, text)} || submit()",
        max_moves=2,
        preparation=(_click_script(field),),
    )


def _click_field(scene: Scene) -> Plan:
    is_focus_page = scene.task == "focus-text-2"
    fields = _THREE_FIELDS if is_focus_page else _FIELDS[scene.task]
    field = scene.rng.choice(fields)
    template = scene.rng.choice(wordings.CLICK_FIELD)
    return Plan(
        instruction=template.format(field=scene.rng.choice(field.names)),
        script=_click_script(field),
    )


def _expand(scene: Scene) -> Plan:
    return Plan(
        instruction=scene.rng.choice(wordings.EXPAND), script="click(one('#area h3'))"
    )


def _click_named(scene: Scene) -> Plan:
    name, selector = scene.rng.choice((("ONE", "#subbtn"), ("TWO", "#subbtn2")))
    return Plan(
        instruction=scene.rng.choice(wordings.BUTTON_NAMED).format(button=name),
        script=f"click(one('{selector}'))",
    )


def _select(scene: Scene) -> Plan:
    name = scene.instruction.removeprefix("Select ").removesuffix(" and click Submit.")
    return Plan(
        instruction=scene.rng.choice(wordings.SELECT).format(name=name),
        script=f"click(byText('#boxes label', {json.dumps(name)}).querySelector('input'))",
    )


_FORMS: Final = tuple(_FIELDS)
KINDS: Final[dict[str, tuple[Callable[[Scene], Plan], tuple[str, ...]]]] = {
    "press": (_press, (*_FORMS, "click-collapsible", "click-option")),
    "fill": (_fill, _FORMS),
    "fill-both": (_fill_both, ("enter-password",)),
    "fill-login": (_fill_login, ("login-user",)),
    "type": (_type, _FORMS),
    "type-then-press": (_type_then_press, ("enter-text", "enter-text-dynamic")),
    "click-field": (_click_field, (*_FORMS, "focus-text-2")),
    "expand": (_expand, ("click-collapsible",)),
    "click-named": (_click_named, ("click-button-sequence", "click-test-2")),
    "select": (_select, ("click-option",)),
}
"""Kind of fragment -> who plans it, and the pages that it is played on."""
