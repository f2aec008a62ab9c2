"""One episode, driven by a script through a scripted world."""

import asyncio
import time

import pytest

from agents.errors import InferenceFailed
from environments.actions import Click, Complete
from environments.errors import InvalidAction, StepFault, TimeoutFault
from tests.training.rollouts.doubles import (
    CLICK,
    DONE,
    GIVE_UP,
    NONSENSE,
    TASK,
    Script,
    World,
    going_on,
    over,
)
from training.rollouts.runner import Deadlines, roll_out
from training.rollouts.types import EndReason


def play(world, script, **options):
    options = {"step_limit": 10, "max_parse_errors": 3} | options
    return asyncio.run(
        roll_out(environment=world, policy=script, task=TASK, seed=7, **options)
    )


@pytest.mark.parametrize(
    ("reward", "reason"),
    [
        (1.0, EndReason.SOLVED),
        (0.51, EndReason.SOLVED),
        (0.5, EndReason.UNSOLVED),
        (0.0, EndReason.UNSOLVED),
    ],
)
def test_the_evaluators_verdict_decides(reward, reason):
    trajectory = play(World(going_on(), over(reward)), Script(CLICK, CLICK))

    assert (trajectory.end_reason, trajectory.reward) == (reason, reward)
    assert trajectory.num_steps == 2


def test_the_task_and_seed_reach_the_world():
    world = World(over(1.0))

    trajectory = play(world, Script(CLICK))

    assert world.resets == [(TASK, 7)]
    assert (trajectory.task, trajectory.seed) == (TASK, 7)


def test_a_step_holds_what_was_seen_before_and_where_the_action_landed():
    trajectory = play(World(going_on(), over(1.0)), Script(CLICK, CLICK))

    first, second = trajectory.steps
    assert first.observation.screen.getpixel((0, 0)) == (0, 0, 255)
    assert second.observation.screen.getpixel((0, 0)) == (1, 0, 255)
    assert trajectory.final_observation.screen.getpixel((0, 0)) == (2, 0, 255)
    # The middle of bin 20 of 40: 20.5 / 40 of 160 and of 210 pixels.
    assert first.executed_px == {"x": 82, "y": 107}


def test_the_policy_is_shown_its_past_answers():
    script = Script(CLICK, NONSENSE, DONE)

    play(World(going_on(), over(0.0)), script)

    assert [texts for _, texts in script.shown] == [[], [CLICK], [CLICK, NONSENSE]]


def test_an_unreadable_answer_is_kept_and_nothing_is_done():
    world = World(over(1.0))

    trajectory = play(world, Script(NONSENSE, CLICK))

    bad, _ = trajectory.steps
    assert bad.decision.text == NONSENSE
    assert bad.decision.action is None
    assert bad.executed_px is None
    assert "expected an action token" in bad.decision.parse_error
    assert len(world.actions) == 1
    assert trajectory.end_reason is EndReason.SOLVED


def test_too_many_unreadable_answers_in_a_row_end_the_episode():
    trajectory = play(World(), Script(CLICK, NONSENSE, NONSENSE), max_parse_errors=2)

    assert trajectory.end_reason is EndReason.PARSE_ERROR
    assert (trajectory.num_steps, trajectory.reward) == (3, 0.0)


def test_a_readable_answer_forgives_the_unreadable_ones_before():
    script = Script(NONSENSE, CLICK, NONSENSE, CLICK)

    trajectory = play(World(going_on(), over(1.0)), script, max_parse_errors=2)

    assert trajectory.end_reason is EndReason.SOLVED


def test_an_action_that_the_world_cannot_carry_out_counts_as_unreadable():
    world = World(InvalidAction("no right button here"))

    trajectory = play(world, Script(CLICK), max_parse_errors=1)

    assert trajectory.end_reason is EndReason.PARSE_ERROR
    decision = trajectory.steps[0].decision
    assert (decision.action, decision.parse_error) == (None, "no right button here")
    assert trajectory.steps[0].executed_px is None


def test_the_step_limit_cuts_off_without_a_reward():
    trajectory = play(World(), Script(*[CLICK] * 9), step_limit=3)

    assert trajectory.end_reason is EndReason.STEP_LIMIT
    assert (trajectory.num_steps, trajectory.reward) == (3, 0.0)


def test_success_with_the_last_allowed_step_is_success():
    trajectory = play(World(going_on(), over(1.0)), Script(CLICK, CLICK), step_limit=2)

    assert trajectory.end_reason is EndReason.SOLVED


def test_a_limit_of_the_worlds_own_is_a_step_limit():
    trajectory = play(World({"truncated": True, "reward": 0.9}), Script(CLICK))

    assert (trajectory.end_reason, trajectory.reward) == (EndReason.STEP_LIMIT, 0.0)


def test_complete_is_judged_by_the_world():
    world = World(over(1.0))

    trajectory = play(world, Script(DONE))

    assert world.actions == [Complete()]
    assert trajectory.end_reason is EndReason.SOLVED


def test_giving_up_a_feasible_task_ends_it_unasked():
    world = World(over(1.0))

    trajectory = play(world, Script(GIVE_UP))

    assert trajectory.end_reason is EndReason.INFEASIBLE_CLAIMED
    assert (trajectory.reward, trajectory.num_steps) == (0.0, 1)
    assert world.actions == []


def test_giving_up_an_infeasible_task_is_judged():
    trajectory = play(World(over(1.0)), Script(GIVE_UP), is_feasible=False)

    assert (trajectory.end_reason, trajectory.reward) == (EndReason.SOLVED, 1.0)


@pytest.mark.parametrize(
    ("world", "script", "limits", "fault", "who"),
    [
        (World(reset_s=9), Script(CLICK), {"reset_s": 0.05}, TimeoutFault, "reset"),
        (World(step_s=9), Script(CLICK), {"step_s": 0.05}, TimeoutFault, "click"),
        (
            World(),
            Script(CLICK, delay_s=9),
            {"model_s": 0.05},
            InferenceFailed,
            "policy",
        ),
        (
            World(step_s=0.04),
            Script(*[CLICK] * 99),
            {"episode_s": 0.1},
            TimeoutFault,
            "click did not answer: the episode's 0.1 s were over",
        ),
    ],
)
def test_what_takes_too_long_is_a_fault_and_names_itself(
    world, script, limits, fault, who
):
    started = time.monotonic()

    with pytest.raises(fault, match=who):
        play(world, script, deadlines=Deadlines(**limits), step_limit=100)

    assert time.monotonic() - started < 6.0


def test_a_world_that_hangs_even_when_cancelled_is_left_behind():
    class Stubborn(World):
        async def step(self, action):
            for _ in range(30):
                try:
                    await asyncio.sleep(0.1)
                except asyncio.CancelledError:
                    continue
            return await super().step(action)

    async def scenario():
        started = time.monotonic()
        with pytest.raises(TimeoutFault):
            await roll_out(
                environment=Stubborn(),
                policy=Script(CLICK),
                task=TASK,
                seed=1,
                step_limit=5,
                max_parse_errors=1,
                deadlines=Deadlines(step_s=0.05),
            )
        return time.monotonic() - started

    assert asyncio.run(scenario()) < 2.5


def test_a_wait_may_take_as_long_as_it_says():
    trajectory = play(
        World(over(1.0), step_s=0.3),
        Script("<|wait|>0.5"),
        deadlines=Deadlines(step_s=0.1),
    )

    assert trajectory.end_reason is EndReason.SOLVED


@pytest.mark.parametrize(
    ("world", "script", "error"),
    [
        (World(StepFault("tab crashed")), Script(CLICK), StepFault),
        (World(), Script(InferenceFailed("nobody there")), InferenceFailed),
    ],
)
def test_what_breaks_is_never_an_end(world, script, error):
    with pytest.raises(error):
        play(world, script)


def test_a_cancelled_episode_cancels_what_it_waits_for():
    ended = []

    class Slow(World):
        async def step(self, action):
            try:
                await asyncio.sleep(30)
            finally:
                ended.append(action)

    async def scenario():
        task = asyncio.create_task(
            roll_out(
                environment=Slow(),
                policy=Script(CLICK),
                task=TASK,
                seed=1,
                step_limit=5,
                max_parse_errors=1,
            )
        )
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0)

    asyncio.run(scenario())

    assert [type(action) for action in ended] == [Click]


def test_watchers_hear_of_every_phase_before_it_begins():
    heard = []

    async def note(event):
        number = event.observation and event.observation.screen.getpixel((0, 0))[0]
        heard.append(
            (event.phase, event.step, number, event.decision and event.decision.text)
        )

    play(World(going_on(), over(1.0)), Script(CLICK, DONE), on_progress=note)

    assert heard == [
        ("reset", 0, None, None),
        ("model", 0, 0, None),
        ("acting", 0, 0, CLICK),
        ("model", 1, 1, CLICK),
        ("evaluating", 1, 1, DONE),
        ("idle", 2, 2, DONE),
    ]


def test_times_are_told_apart():
    world = World(over(1.0), reset_s=0.07, step_s=0.05)
    started = time.monotonic()

    trajectory = play(world, Script(CLICK, delay_s=0.03))

    took = time.monotonic() - started
    timings = trajectory.steps[0].timings_s
    assert timings["queue"] == 0.001
    assert timings["model"] >= 0.029
    assert timings["environment"] >= 0.05
    assert trajectory.reset_s >= 0.07
    assert trajectory.reset_s + sum(timings.values()) <= took
