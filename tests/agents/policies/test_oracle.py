import pytest

from agents.coordinates import ScreenView
from agents.formats import compact
from agents.policies.experts import EXPERTS
from agents.policies.oracle import Oracle, find_move, oracle_for
from agents.policies.scripted import ScriptedExpert
from agents.types import Turn
from environments.actions import Click, Key, Type
from environments.backends.miniwob.environment import MiniWobEnvironment
from environments.backends.miniwob.tasks import TASKS, TASKS_BY_NAME
from environments.backends.scripted.environment import ScriptedEnvironment
from environments.backends.scripted.tasks import TASKS as SCRIPTED_TASKS
from environments.errors import UnknownTask

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def _play(environment, policy, definition, seed: int) -> tuple[float, int]:
    observation = await environment.reset(definition.spec(), seed)
    turns: list[Turn] = []
    for _ in range(definition.max_steps):
        decision = await policy.decide(observation, turns)
        result = await environment.step(decision.action)
        turns.append(Turn(text=decision.text))
        observation = result.observation
        if result.terminated:
            return result.reward, len(turns)
    return 0.0, len(turns)


SAMPLE = (
    "ascending-numbers",
    "bisect-angle",
    "book-flight-nodelay",
    "choose-date-medium",
    "choose-list",
    "click-button-sequence",
    "click-checkboxes-soft",
    "click-collapsible-2",
    "click-menu-2",
    "click-scroll-list",
    "click-shape",
    "copy-paste-2",
    "count-sides",
    "daily-calendar",
    "drag-items-grid",
    "drag-shapes-2",
    "email-inbox-nl-turk",
    "enter-password",
    "enter-time",
    "fill-nth",
    "find-greatest",
    "flight.AA",
    "flight.Alaska-auto",
    "form-sequence",
    "highlight-text-2",
    "hot-cold",
    "login-user-popup",
    "order-food",
    "resize-textarea",
    "search-engine",
    "sign-agreement",
    "social-media-some",
    "terminal",
    "text-editor",
    "use-colorwheel-2",
    "use-slider-2",
)
"""Of every kind of move, and of every kind of page; all: ``manage.py oracle_table``."""


@pytest.mark.browser
@pytest.mark.parametrize("name", SAMPLE)
async def test_an_expert_solves_its_task(name: str, page: MiniWobEnvironment):
    definition = TASKS_BY_NAME[name]
    for seed in (100, 101):
        oracle = oracle_for(name, page, seed=seed)

        reward, _ = await _play(page, oracle, definition, seed)

        assert reward > 0.95


async def test_exactly_the_tasks_that_say_so_have_an_expert():
    assert {task.name for task in TASKS if task.has_oracle} == set(EXPERTS)


@pytest.mark.browser
async def test_a_drag_says_where_it_begins_and_where_it_ends(page: MiniWobEnvironment):
    observation = await page.reset(TASKS_BY_NAME["drag-box"].spec(), 1)

    move = await find_move(
        page, EXPERTS["drag-box"], screen_size=observation.screen.size, rng=None
    )

    small, large = await page.evaluate(
        "['#draggableSmall', '#draggableLarge'].map((id) => {"
        " const r = document.querySelector(id).getBoundingClientRect();"
        " return [r.left, r.top, r.right, r.bottom]; })"
    )
    box, to_box = move.box, move.to_box
    assert [box.left, box.top, box.right, box.bottom] == small
    assert large[0] < to_box.left < to_box.right < large[2]
    assert large[1] < to_box.top < to_box.bottom < large[3]


@pytest.mark.browser
@pytest.mark.parametrize("name", ["click-dialog", "fill-nth", "click-collapsible"])
async def test_what_the_format_can_say_is_exact_enough(
    name: str, page: MiniWobEnvironment
):
    """A point is rounded to 4 px on its way through the text; it must still hit."""
    definition = TASKS_BY_NAME[name]
    for seed in range(8):
        observation = await page.reset(definition.spec(), seed)
        oracle = oracle_for(name, page, seed=seed)
        for _ in range(definition.max_steps):
            decision = await oracle.decide(observation, [])
            action = compact.parse(decision.text, ScreenView.of(observation))
            result = await page.step(action)
            observation = result.observation
            if result.terminated:
                break

        assert result.reward == 1.0


@pytest.mark.browser
async def test_clicks_scatter_over_the_inner_half_of_their_target(
    page: MiniWobEnvironment,
):
    observation = await page.reset(TASKS_BY_NAME["focus-text-2"].spec(), 1)
    oracle = oracle_for("focus-text-2", page, seed=1)
    points = set()
    for _ in range(20):
        click = (await oracle.decide(observation, [])).action
        box = oracle.target_box
        u = (click.x * 160 - box.left) / box.width
        v = (click.y * 210 - box.top) / box.height
        assert 0.2 < u < 0.8
        assert 0.2 < v < 0.8
        points.add((round(u, 2), round(v, 2)))

    assert len(points) > 15


@pytest.mark.browser
async def test_without_jitter_clicks_hit_the_centre(page: MiniWobEnvironment):
    observation = await page.reset(TASKS_BY_NAME["focus-text-2"].spec(), 1)
    oracle = Oracle("focus-text-2", page, jitter=False)

    click = (await oracle.decide(observation, [])).action

    left, top, width, height = await page.evaluate(
        f"(() => {{ const r = document.elementFromPoint({click.x * 160}, {click.y * 210})"
        ".getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()"
    )
    assert click.x * 160 == pytest.approx(left + width / 2)
    assert click.y * 210 == pytest.approx(top + height / 2)


@pytest.mark.browser
async def test_an_expert_puts_right_what_others_did(page: MiniWobEnvironment):
    definition = TASKS_BY_NAME["fill-nth"]
    observation = await page.reset(definition.spec(), 3)  # "Michel", 2nd box
    oracle = oracle_for("fill-nth", page, jitter=False)
    first = await oracle.decide(observation, [])
    await page.step(first.action)
    await page.step(Type(text="Mi"))

    kinds = []
    for _ in range(3):
        action = (await oracle.decide(observation, [])).action
        kinds.append(type(action))
        result = await page.step(action)

    assert kinds == [Key, Type, Click]
    assert result.reward == 1.0


@pytest.mark.browser
async def test_a_decision_says_its_action_in_the_compact_format(
    page: MiniWobEnvironment,
):
    observation = await page.reset(TASKS_BY_NAME["enter-text"].spec(), 7)
    oracle = oracle_for("enter-text", page, jitter=False)

    click = await oracle.decide(observation, [])
    await page.step(click.action)
    typing = await oracle.decide(observation, [Turn(text=click.text)])

    assert click.text.startswith("<|click|><x")
    assert typing.text == "<|type|>Nathalie"
    assert typing.answer is None
    assert click.text in str(typing.prompt.messages)


async def test_a_task_without_an_expert_is_refused():
    with pytest.raises(UnknownTask, match="no expert"):
        oracle_for("fly-to-the-moon", ScriptedEnvironment())


@pytest.mark.parametrize("definition", SCRIPTED_TASKS, ids=lambda task: task.name)
async def test_the_scripted_world_has_an_expert_too(definition):
    world = ScriptedEnvironment()
    for seed in range(10):
        expert = ScriptedExpert(world, seed=seed)

        reward, _ = await _play(world, expert, definition, seed)

        assert reward == 1.0
