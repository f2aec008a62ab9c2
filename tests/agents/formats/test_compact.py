import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.coordinates import ScreenView
from agents.errors import ParseError
from agents.formats import compact
from environments.actions import (
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

WHOLE = ScreenView(left=0.0, top=0.0, right=1.0, bottom=1.0)
BELOW_THE_BAR = ScreenView(left=0.0, top=50 / 210, right=1.0, bottom=1.0)

middles = st.integers(0, compact.NUM_BINS - 1).map(
    lambda bin_: (bin_ + 0.5) / compact.NUM_BINS
)


def test_a_click_names_the_column_and_row_that_it_falls_into():
    # 0.5 of 40 columns is column 20; 0.999 of 40 rows is row 39.
    assert compact.render(Click(x=0.5, y=0.999), WHOLE) == "<|click|><x20><y39>"


def test_a_point_is_read_as_the_middle_of_its_bin_in_the_visible_part():
    # Row 0 of 40 rows of 4 px below a bar of 50 px: 52 of 210 px.
    action = compact.parse("<|click|><x0><y0>", BELOW_THE_BAR)

    assert action.x == pytest.approx(2 / 160)
    assert action.y == pytest.approx(52 / 210)


def test_a_point_outside_the_visible_part_becomes_the_nearest_bin():
    assert compact.render(Click(x=0.5, y=0.0), BELOW_THE_BAR) == "<|click|><x20><y0>"


@given(x=middles, y=middles, to_x=middles, to_y=middles, text=st.text())
def test_every_action_is_read_back_as_it_was_written(x, y, to_x, to_y, text):
    actions = [
        Click(x=x, y=y),
        DoubleClick(x=x, y=y),
        RightClick(x=x, y=y),
        Move(x=x, y=y),
        Drag(x=x, y=y, to_x=to_x, to_y=to_y),
        Scroll(x=x, y=y, direction="left", amount=12),
        Type(text=text),
        Key(keys=("Control", "+")),
        Key(keys=(" ",)),
        Wait(seconds=1.5),
        Complete(),
        Fail(),
    ]

    for action in actions:
        assert compact.parse(compact.render(action, WHOLE), WHOLE) == action


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "expected an action token such as <|click|>, found the end"),
        ("click 3 4", "found 'click 3 4'"),
        ("<|jump|>", "expected an action token"),
        ("<|click|>", "expected a point such as <x12><y7>, found the end"),
        ("<|click|><x1>", "expected a point"),
        ("<|click|><x40><y0>", "end at 39"),
        ("<|click|><x1><y1><|click|><x1><y1>", "expected the end of the answer"),
        ("<|drag|><x1><y1>", "expected a point"),
        ("<|scroll|><x1><y1>down", "expected a direction and notches"),
        ("<|scroll|><x1><y1>down 99", "scroll.amount is 1…50 notches, got 99"),
        ("<|key|>", "expected key names"),
        ("<|key|>a++b", "expected key names"),
        ("<|wait|>soon", "expected seconds"),
        ("<|wait|>99", "wait.seconds is 0…60"),
        ("<|complete|>!", "expected the end"),
    ],
)
def test_an_unreadable_answer_says_where_reading_stopped(text, expected):
    with pytest.raises(ParseError) as caught:
        compact.parse(text, WHOLE)

    assert expected in str(caught.value)


@given(st.text(alphabet="<|>clicktypexyw0123456789+ \n", max_size=60))
def test_no_text_makes_the_parser_break(text):
    with contextlib.suppress(ParseError):  # Anything else fails the test.
        compact.parse(text, WHOLE)
