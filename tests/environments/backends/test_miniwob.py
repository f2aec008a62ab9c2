import asyncio
import random

import pytest

from environments.actions import (
    Action,
    Click,
    Complete,
    DoubleClick,
    Drag,
    Key,
    Move,
    RightClick,
    Scroll,
    Type,
    Wait,
)
from environments.backends.miniwob.environment import MiniWobEnvironment
from environments.backends.miniwob.host import MiniWobHost
from environments.backends.miniwob.tasks import TASKS, TASKS_BY_NAME
from environments.errors import EnvironmentFault, StartFault, StepFault
from environments.types import Box

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.browser]


def _spec(name: str):
    return TASKS_BY_NAME[name].spec()


async def _click_on(page: MiniWobEnvironment, selector: str):
    left, top, right, bottom = await page.evaluate(
        f"(() => {{ const r = document.querySelector('{selector}')"
        ".getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; })()"
    )
    return await page.step(Click(x=(left + right) / 320, y=(top + bottom) / 420))


def _mischief(rng: random.Random) -> list[Action]:
    def at() -> dict[str, float]:
        return {"x": rng.random(), "y": rng.uniform(0.25, 1)}

    return [
        rng.choice([Click, DoubleClick, RightClick, Move])(**at()),
        Type(text="a b"),
        Drag(**at(), to_x=rng.random(), to_y=rng.random()),
        Scroll(**at(), direction=rng.choice(["up", "down", "left", "right"])),
        Key(keys=("Tab",)),
        Key(keys=("Control", "a")),
    ]


async def _is_as_fresh(host: MiniWobHost, name: str) -> bool:
    rng = random.Random(name)
    async with MiniWobEnvironment(host) as fresh:
        expected = await fresh.reset(_spec(name), 3)
    async with MiniWobEnvironment(host) as used:
        for _ in range(2):
            await used.reset(_spec(name), 80)
            for action in _mischief(rng):
                if (await used.step(action)).terminated:
                    break
        again = await used.reset(_spec(name), 3)
    return again.instruction == expected.instruction and (
        TASKS_BY_NAME[name].is_timed
        or again.screen.tobytes() == expected.screen.tobytes()
    )


@pytest.mark.parametrize("kind", sorted({task.category for task in TASKS}))
async def test_a_seed_gives_the_same_pixels_whatever_happened_before(
    kind: str, host: MiniWobHost
):
    at_once = asyncio.Semaphore(4)

    async def left_over(name: str) -> bool:
        async with at_once:
            return not await _is_as_fresh(host, name)

    names = [task.name for task in TASKS if task.category == kind]
    spoilt = await asyncio.gather(*map(left_over, names))

    assert [
        name for name, is_spoilt in zip(names, spoilt, strict=True) if is_spoilt
    ] == []


async def test_a_search_form_has_a_screen_of_its_own_size(page: MiniWobEnvironment):
    small = await page.reset(_spec("click-test"), 1)
    large = await page.reset(_spec("flight.AA"), 1)
    again = await page.reset(_spec("click-test"), 1)

    assert (large.screen.size, large.task_area) == ((375, 667), None)
    assert "Departure City" in large.instruction
    assert again.screen.tobytes() == small.screen.tobytes()


async def test_what_an_episode_does_later_does_not_reach_the_next_one(
    page: MiniWobEnvironment,
):
    """The page ends an episode by itself 9.9 s after its start."""
    await page.reset(_spec("moving-items"), 1)
    await page.evaluate("setTimeout(() => core.endEpisode(1), 100)")
    await page.reset(_spec("moving-items"), 1)

    later = await page.step(Wait(seconds=0.3))

    assert not later.terminated


async def test_no_page_shows_the_day_it_is_played_on(page: MiniWobEnvironment):
    await page.reset(_spec("terminal"), 1)

    shown = await page.evaluate("document.querySelector('#terminal').textContent")

    assert "Wed Jan 01 2020" in shown


async def test_words_of_other_alphabets_are_shown(page: MiniWobEnvironment):
    seen = {(await page.reset(_spec("unicode-test"), s)).instruction for s in range(12)}

    assert 'Click on the "取消" button.' in seen


async def test_each_page_has_a_clipboard_of_its_own(host: MiniWobHost):
    async def copied(seed: int) -> tuple[str, str]:
        async with MiniWobEnvironment(host) as page:
            await page.reset(_spec("copy-paste"), seed)
            words = await page.evaluate("document.querySelector('textarea').value")
            await _click_on(page, "textarea")
            await page.step(Key(keys=("Control", "a")))
            await page.step(Key(keys=("Control", "c")))
            await page.step(Wait(seconds=0.2))
            await _click_on(page, "#answer-input")
            await page.step(Key(keys=("Control", "v")))
            return words, await page.evaluate(
                "document.querySelector('#answer-input').value"
            )

    for words, pasted in await asyncio.gather(copied(1), copied(2)):
        assert pasted == words


async def test_a_page_whose_instruction_comes_with_fields_gives_its_words(
    page: MiniWobEnvironment,
):
    seen = await page.reset(_spec("email-inbox-nl-turk"), 1)

    assert seen.instruction == "Delete the email Neille sent me."


async def test_the_same_actions_give_the_same_pixels(page: MiniWobEnvironment):
    actions = [Click(x=0.3, y=0.35), Type(text="Bob"), Key(keys=("Tab",))]

    async def play() -> list[bytes]:
        await page.reset(_spec("fill-nth"), 5)
        return [(await page.step(a)).observation.screen.tobytes() for a in actions]

    first = await play()
    assert await play() == first


async def test_another_seed_gives_another_screen(page: MiniWobEnvironment):
    one = await page.reset(_spec("enter-text"), 1)
    two = await page.reset(_spec("enter-text"), 2)

    assert one.instruction != two.instruction
    assert one.screen.tobytes() != two.screen.tobytes()


async def test_an_observation_is_the_whole_page_with_the_task_below_the_bar(
    page: MiniWobEnvironment,
):
    seen = await page.reset(_spec("click-test-2"), 1)

    assert seen.screen.size == (160, 210)
    assert seen.screen.mode == "RGB"
    assert seen.task_area == Box(left=0, top=50, right=160, bottom=210)
    assert seen.screen.getpixel((155, 45)) == (255, 255, 0)  # the bar
    assert seen.screen.getpixel((1, 55)) == (255, 255, 255)
    assert seen.instruction == "Click button ONE."


async def test_the_screen_shows_what_the_last_action_did(page: MiniWobEnvironment):
    await page.reset(_spec("fill-nth"), 5)
    focused = await _click_on(page, "#tt1")
    typed = await page.step(Type(text="W"))
    cleared = await page.step(Key(keys=("Backspace",)))

    assert typed.observation.screen.tobytes() != focused.observation.screen.tobytes()
    assert cleared.observation.screen.tobytes() == focused.observation.screen.tobytes()


async def test_a_right_answer_is_worth_one_and_a_wrong_one_nothing(
    page: MiniWobEnvironment,
):
    await page.reset(_spec("click-button-sequence"), 1)
    first = await _click_on(page, "#subbtn")
    right = await _click_on(page, "#subbtn2")
    await page.reset(_spec("click-button-sequence"), 1)
    await _click_on(page, "#subbtn2")
    wrong = await _click_on(page, "#subbtn")

    assert (first.terminated, first.reward) == (False, 0.0)
    assert (right.terminated, right.reward) == (True, 1.0)
    assert (wrong.terminated, wrong.reward) == (True, 0.0)
    assert wrong.info["raw_reward"] == -1.0


@pytest.mark.parametrize(
    ("filling", "reward"),
    [
        ({"#tt2": "Michel"}, 1.0),
        ({"#tt2": "michel"}, 0.0),
        ({"#tt1": "Michel"}, 0.0),
        ({"#tt2": "Michel", "#tt3": "x"}, 0.0),
        ({}, 0.0),
    ],
)
async def test_fill_nth_wants_the_text_in_one_box_and_nothing_in_the_others(
    filling: dict[str, str], reward: float, page: MiniWobEnvironment
):
    seen = await page.reset(_spec("fill-nth"), 3)
    for selector, text in filling.items():
        await _click_on(page, selector)
        await page.step(Type(text=text))

    result = await _click_on(page, "#subbtn")

    assert seen.instruction == (
        'Enter "Michel" into the 2nd input textbox and press Submit.'
    )
    assert (result.terminated, result.reward) == (True, reward)


async def test_fill_nth_keeps_its_button_on_the_screen(page: MiniWobEnvironment):
    for seed in range(40):
        await page.reset(_spec("fill-nth"), seed)
        bottom = await page.evaluate(
            "document.querySelector('#subbtn').getBoundingClientRect().bottom"
        )
        assert bottom <= 210


async def test_saying_done_before_the_deed_earns_nothing(page: MiniWobEnvironment):
    await page.reset(_spec("click-test"), 1)

    result = await page.step(Complete())

    assert (result.terminated, result.reward) == (True, 0.0)
    with pytest.raises(StepFault, match="over"):
        await page.step(Move(x=0.5, y=0.5))


async def test_the_page_s_own_clock_ends_no_episode(page: MiniWobEnvironment):
    await page.reset(_spec("enter-password"), 1)

    assert await page.evaluate("core.EPISODE_MAX_TIME") > 24 * 3600 * 1000


async def test_keys_reach_the_page_s_own_handlers(page: MiniWobEnvironment):
    await page.reset(_spec("enter-text"), 1)
    await page.evaluate(
        "window.heard = []; addEventListener('keydown', e => heard.push(e.key)); 0"
    )
    await _click_on(page, "#tt")

    await page.step(Type(text="aB\n"))

    assert await page.evaluate("heard") == ["a", "B", "Enter"]
    assert await page.evaluate("document.querySelector('#tt').value") == "aB"


async def test_any_text_can_be_typed(page: MiniWobEnvironment):
    text = 'Zoë\'s 9% "naïve" <tag> {x}|~ 日本 🎯'
    await page.reset(_spec("enter-text"), 1)
    await _click_on(page, "#tt")

    await page.step(Type(text=text))

    assert await page.evaluate("document.querySelector('#tt').value") == text


async def test_control_a_and_typing_replaces_what_was_there(page: MiniWobEnvironment):
    await page.reset(_spec("enter-text"), 1)
    await _click_on(page, "#tt")
    await page.step(Type(text="old"))

    await page.step(Key(keys=("Control", "a")))
    await page.step(Type(text="new"))

    assert await page.evaluate("document.querySelector('#tt').value") == "new"


async def test_the_mouse_does_what_the_primitives_say(page: MiniWobEnvironment):
    await page.reset(_spec("click-link"), 1)
    await page.evaluate(
        """window.heard = [];
        for (const kind of ['click', 'dblclick', 'contextmenu', 'wheel'])
          addEventListener(kind, e => heard.push(kind));
        addEventListener('mousemove', e => { if (e.buttons) heard.push('drag'); });
        0"""
    )
    at = {"x": 0.5, "y": 0.9}

    for action in (
        DoubleClick(**at),
        RightClick(**at),
        Scroll(**at, direction="up", amount=1),
        Drag(**at, to_x=0.1, to_y=0.9),
    ):
        await page.step(action)

    heard = await page.evaluate("heard")
    assert heard[:3] == ["click", "click", "dblclick"]
    assert {"contextmenu", "wheel", "drag"} <= set(heard)


async def test_a_wheel_scrolls_a_box_by_forty_pixels_a_notch(page: MiniWobEnvironment):
    await page.reset(_spec("click-test-2"), 1)
    await page.evaluate(
        "document.querySelector('#area').innerHTML = '<div id=long style=\"height:100px;"
        'overflow:auto"><div style="height:900px"></div></div>\'; 0'
    )

    await page.step(Scroll(x=0.5, y=0.4, direction="down", amount=3))
    await page.step(Wait(seconds=0.1))

    assert await page.evaluate("document.querySelector('#long').scrollTop") == 120


async def test_a_message_box_does_not_hang_the_page(page: MiniWobEnvironment):
    await page.reset(_spec("click-test-2"), 1)

    answer = await asyncio.wait_for(page.evaluate("confirm('Really?')"), timeout=5)

    assert answer is True


async def test_pages_of_one_browser_do_not_disturb_each_other(host: MiniWobHost):
    names = ["enter-text", "fill-nth", "login-user", "enter-text-dynamic"]
    selectors = ["#tt", "#tt1", "#username", "#tt"]

    async def play(name: str, selector: str) -> str:
        async with MiniWobEnvironment(host) as page:
            await page.reset(_spec(name), 1)
            await _click_on(page, selector)
            for letter in name:
                await page.step(Type(text=letter))
            return await page.evaluate(f"document.querySelector('{selector}').value")

    written = await asyncio.gather(*map(play, names, selectors))

    assert written == names


async def test_a_dead_browser_is_a_fault_and_no_reward(host: MiniWobHost):
    async with MiniWobHost() as doomed:
        page = MiniWobEnvironment(doomed)
        await page.reset(_spec("click-test"), 1)
        await doomed._chromium.kill()

        with pytest.raises(EnvironmentFault):
            await page.step(Click(x=0.5, y=0.5))
        with pytest.raises(StartFault):
            await MiniWobEnvironment(doomed).reset(_spec("click-test"), 1)
        await page.close()
        await page.close()
        assert not doomed.is_alive
    assert host.is_alive
