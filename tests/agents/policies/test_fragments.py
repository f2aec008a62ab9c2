import pytest

from agents.coordinates import ScreenView
from agents.formats import compact
from agents.policies import fragments
from agents.policies.fragments import Sample
from environments.actions import Click, Type
from environments.backends.miniwob.environment import MiniWobEnvironment
from environments.backends.scripted.environment import ScriptedEnvironment
from environments.errors import UnknownTask

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.browser]


async def _rows(page: MiniWobEnvironment, name: str, seed: int) -> list[Sample]:
    return [row async for row in fragments.sample(page, name, seed)]


@pytest.mark.parametrize("name", fragments.NAMES)
async def test_every_fragment_gives_one_to_four_rows_that_can_be_said(
    name: str, page: MiniWobEnvironment
):
    for seed in range(5):
        rows = await _rows(page, name, seed)

        assert 1 <= len(rows) <= 4
        for row in rows:
            view = ScreenView.of(row.observation)
            compact.parse(compact.render(row.action, view), view)
            assert row.observation.instruction.endswith(".")
            assert len(row.turns) <= 4


async def test_filling_a_box_is_a_click_and_then_the_words(page: MiniWobEnvironment):
    for seed in range(10):
        first, *rest = await _rows(page, "fill/fill-nth", seed)
        click, typing = (first, *rest)

        assert isinstance(click.action, Click)
        assert isinstance(typing.action, Type)
        assert typing.action.text in typing.observation.instruction
        assert typing.turns[:-1] == click.turns
        assert typing.observation.instruction == click.observation.instruction


async def test_no_fragment_of_a_chain_shows_its_submit_after_its_filling(
    page: MiniWobEnvironment,
):
    """Reinforcement learning shall compose the parts; they must not come composed."""
    for name in fragments.NAMES:
        kind, task = name.split("/")
        if task not in {
            "fill-nth",
            "enter-password",
            "login-user",
            "click-collapsible",
        }:
            continue
        for seed in range(3):
            rows = await _rows(page, name, seed)
            if kind == "press":
                assert len(rows) == 1
            else:
                assert not await page.evaluate("WOB_DONE_GLOBAL")


async def test_pressing_comes_with_and_without_a_history(page: MiniWobEnvironment):
    lengths = set()
    for seed in range(20):
        (row,) = await _rows(page, "press/fill-nth", seed)
        lengths.add(len(row.turns))

    assert lengths == {0, 1, 2, 3}


async def test_a_seed_gives_the_same_rows(page: MiniWobEnvironment):
    once = await _rows(page, "fill/login-user", 4)
    again = await _rows(page, "fill/login-user", 4)

    assert [(r.observation.instruction, r.turns, r.action) for r in once] == [
        (r.observation.instruction, r.turns, r.action) for r in again
    ]
    assert once[0].observation.screen.tobytes() == again[0].observation.screen.tobytes()


async def test_an_unknown_fragment_is_refused():
    with pytest.raises(UnknownTask, match="no fragment"):
        [row async for row in fragments.sample(ScriptedEnvironment(), "fly/moon", 1)]
