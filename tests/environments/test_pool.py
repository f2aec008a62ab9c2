import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError

import psutil
import pytest

from environments.actions import Click, Move
from environments.backends.miniwob.tasks import TASKS_BY_NAME
from environments.errors import EnvironmentFault, StepFault, TimeoutFault
from environments.guard import Deadlines
from environments.pool import SlotPool
from environments.types import TaskSpec

AT_CENTRE = Move(x=0.5, y=0.5)
SQUARE = TaskSpec(backend="scripted", name="click-square")
CLICK_TEST = TASKS_BY_NAME["click-test"].spec()


@pytest.fixture
def pool() -> Iterator[SlotPool]:
    pool = SlotPool(
        worker="test",
        num_slots=2,
        deadlines=Deadlines(start_s=20, reset_s=8, step_s=1.5, close_s=2),
    )
    yield pool
    pool.close()


async def _slot_id(pool: SlotPool, backend: str = "scripted", task: str = "") -> str:
    async with pool.lease(backend, task_name=task) as (slot, _):
        return slot.slot_id


def test_a_pool_without_slots_is_refused():
    with pytest.raises(ValueError, match="at least one slot, got 0"):
        SlotPool(worker="test", num_slots=0)


def test_a_slot_is_lent_to_one_at_a_time(pool: SlotPool):
    async def work() -> tuple[set[str], str]:
        async with pool.lease("scripted") as (a, _), pool.lease("scripted") as (b, _):
            with pytest.raises(TimeoutFault, match="no slot became free"):
                async with pool.lease("scripted", timeout_s=0.05):
                    pass
            taken = {a.slot_id, b.slot_id}
        return taken, await _slot_id(pool)

    taken, later = pool.run(work())

    assert taken == {"test-0", "test-1"}
    assert later in taken


def test_who_waits_gets_the_slot_that_becomes_free(pool: SlotPool):
    async def work() -> str:
        async with pool.lease("scripted"):
            async with pool.lease("scripted") as (second, _):
                waiting = asyncio.create_task(_slot_id(pool))
                await asyncio.sleep(0.02)
                assert not waiting.done()
            assert await waiting == second.slot_id
            return second.slot_id

    assert pool.run(work()) in {"test-0", "test-1"}


def test_the_slot_that_played_the_task_before_is_preferred(pool: SlotPool):
    async def work() -> tuple[str, str]:
        async with (
            pool.lease("scripted", task_name="click-two"),
            pool.lease("scripted", task_name="click-square") as (square, _),
        ):
            pass
        return square.slot_id, await _slot_id(pool, task="click-square")

    before, again = pool.run(work())

    assert again == before


def test_many_threads_may_use_the_slots(pool: SlotPool):
    async def play() -> float:
        async with pool.lease("scripted") as (_, environment):
            await environment.reset(SQUARE, 1)
            return (await environment.step(AT_CENTRE)).reward

    rewards: list[float] = []
    threads = [
        threading.Thread(target=lambda: rewards.append(pool.run(play())))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)

    assert rewards == [0.0] * 6


@pytest.mark.parametrize("trouble", ["break_at_step", "hang_at_step"])
def test_a_broken_slot_is_built_anew(trouble: str, pool: SlotPool):
    bad = TaskSpec(backend="scripted", name="click-square", params={trouble: 0})

    async def break_it() -> object:
        async with pool.lease("scripted") as (_, environment):
            await environment.reset(bad, 1)
            with pytest.raises(EnvironmentFault):
                await environment.step(AT_CENTRE)
            return environment

    async def use_both() -> list[object]:
        async with (
            pool.lease("scripted") as (_, one),
            pool.lease("scripted") as (_, two),
        ):
            for environment in (one, two):
                await environment.reset(SQUARE, 1)
                await environment.step(AT_CENTRE)
            return [one, two]

    broken = pool.run(break_it())

    assert broken not in pool.run(use_both())


def test_an_error_of_the_caller_gives_the_slot_back(pool: SlotPool):
    async def fail() -> None:
        async with pool.lease("scripted"), pool.lease("scripted"):
            raise KeyError("a bug")

    with pytest.raises(KeyError):
        pool.run(fail())

    assert pool.run(_slot_id(pool)) in {"test-0", "test-1"}


def test_a_slot_that_cannot_be_cleared_away_is_not_lost(monkeypatch):
    async def refuse(slot: object) -> None:
        raise OSError("no such process")

    async def break_then_play(pool: SlotPool) -> str:
        monkeypatch.setattr(pool, "_clear", refuse)
        with pytest.raises(OSError, match="no such process"):
            async with pool.lease("scripted") as (_, environment):
                environment.is_broken = True
        monkeypatch.undo()
        async with pool.lease("scripted", timeout_s=1) as (slot, _):
            return slot.slot_id

    pool = SlotPool(worker="test", num_slots=1)
    try:
        assert pool.run(break_then_play(pool)) == "test-0"
    finally:
        pool.close()


def test_closing_the_pool_breaks_off_what_is_played(pool: SlotPool):
    playing = threading.Event()
    ends: list[BaseException] = []

    async def play() -> None:
        async with pool.lease("scripted"):
            playing.set()
            await asyncio.Event().wait()

    def wait_for_it() -> None:
        try:
            pool.run(play())
        except CancelledError as error:
            ends.append(error)

    caller = threading.Thread(target=wait_for_it)
    caller.start()
    assert playing.wait(timeout=5)

    pool.close()

    caller.join(timeout=5)
    assert len(ends) == 1


@pytest.mark.browser
def test_a_page_in_an_endless_loop_goes_alone_and_its_neighbour_plays_on(
    pool: SlotPool,
):
    async def work() -> tuple[set[int], set[int]]:
        async with pool.lease("miniwob") as (slot, neighbour):
            await neighbour.reset(CLICK_TEST, 1)
            browser = slot.host.pid
            async with pool.lease("miniwob") as (_, hanging):
                await hanging.reset(CLICK_TEST, 1)
                await hanging.evaluate("setTimeout(() => { for (;;); }, 0); 0")
                with pytest.raises(TimeoutFault):
                    await hanging.step(AT_CENTRE)
                during = {
                    p.pid for p in psutil.Process(browser).children(recursive=True)
                }
            assert not (await neighbour.step(AT_CENTRE)).terminated
            async with pool.lease("miniwob") as (renewed, environment):
                await environment.reset(CLICK_TEST, 2)
                assert renewed.host.pid == browser
            after = {p.pid for p in psutil.Process(browser).children(recursive=True)}
        return during, after

    during, after = pool.run(work())

    assert during - after, "the renderer that spins is still there"


@pytest.mark.browser
def test_a_frozen_browser_is_killed_with_its_whole_tree_and_replaced(pool: SlotPool):
    async def freeze() -> list[psutil.Process]:
        async with pool.lease("miniwob") as (slot, environment):
            await environment.reset(CLICK_TEST, 1)
            browser = psutil.Process(slot.host.pid)
            tree = [browser, *browser.children(recursive=True)]
            os.kill(browser.pid, signal.SIGSTOP)
            with pytest.raises(TimeoutFault):
                await environment.step(AT_CENTRE)
            return tree

    async def play() -> int:
        async with pool.lease("miniwob") as (slot, environment):
            await environment.reset(CLICK_TEST, 1)
            await environment.step(Click(x=0.01, y=0.99))
            return slot.host.pid

    tree = pool.run(freeze())
    _, alive = psutil.wait_procs(tree, timeout=5)

    assert len(tree) > 2
    assert [p for p in alive if p.status() != psutil.STATUS_ZOMBIE] == []
    assert pool.run(play()) != tree[0].pid


@pytest.mark.browser
def test_a_browser_that_died_is_replaced_for_all_its_slots(pool: SlotPool):
    async def work() -> tuple[int, int]:
        async with (
            pool.lease("miniwob") as (slot, one),
            pool.lease("miniwob") as (_, two),
        ):
            await one.reset(CLICK_TEST, 1)
            await two.reset(CLICK_TEST, 1)
            old = slot.host.pid
            os.kill(old, signal.SIGKILL)
            for environment in (one, two):
                with pytest.raises(StepFault):
                    await environment.step(AT_CENTRE)
        async with (
            pool.lease("miniwob") as (slot, one),
            pool.lease("miniwob") as (other, two),
        ):
            await one.reset(CLICK_TEST, 1)
            await two.reset(CLICK_TEST, 1)
            assert other.host.pid == slot.host.pid
            return old, slot.host.pid

    old, new = pool.run(work())

    assert old != new


@pytest.mark.browser
def test_closing_the_pool_leaves_no_process(pool: SlotPool):
    async def start() -> int:
        async with pool.lease("miniwob") as (slot, environment):
            await environment.reset(CLICK_TEST, 1)
            return slot.host.pid

    browser = psutil.Process(pool.run(start()))
    tree = [browser, *browser.children(recursive=True)]

    pool.close()

    _, alive = psutil.wait_procs(tree, timeout=5)
    assert [p for p in alive if p.status() != psutil.STATUS_ZOMBIE] == []
