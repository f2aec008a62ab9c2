"""The loop that keeps processes alive, and ends them all; one thread, no Django."""

import contextlib
import dataclasses
import math
import selectors
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from types import FrameType

from studio.common.process import kill_all, tree_of
from studio.supervisor.child import Child
from studio.supervisor.log import MergedLog
from studio.supervisor.orphans import Orphans
from studio.supervisor.spec import ProcessSpec

TICK_S = 0.1
FIRST_DELAY_S = 0.5
MAX_DELAY_S = 10.0
LONG_LIFE_S = 30.0
"""A process that lived this long starts again after the first delay."""
GRACE_S = 10.0
"""From SIGTERM to SIGKILL."""

SUPERVISOR = "studio"
"""Under which name the supervisor itself speaks."""

OnReady = Callable[[str], None]


class Supervisor:
    """Starts every process, restarts what dies, and leaves nothing behind."""

    def __init__(
        self, specs: Sequence[ProcessSpec], log: MergedLog, *, mark: tuple[str, str]
    ) -> None:
        """Plan the processes; none starts yet.

        Args:
            specs: What to run.
            log: Where what they say goes.
            mark: A variable and its value; put into the environment of every process.
        """
        self._specs = [_marked(spec, mark) for spec in specs]
        self._orphans = Orphans(mark)
        self._log = log
        self._children: dict[str, Child] = {}
        self._delays_s: dict[str, float] = {}
        self._start_at: dict[str, float] = dict.fromkeys((s.name for s in specs), 0.0)
        self._ready_once: set[str] = set()
        self._num_signals = 0
        self._selector = selectors.DefaultSelector()

    @property
    def is_all_ready(self) -> bool:
        """Return whether every process has been ready at least once."""
        return len(self._ready_once) == len(self._specs)

    def run(
        self,
        *,
        on_ready: OnReady = lambda name: None,
        until: Callable[[], bool] = lambda: False,
    ) -> None:
        """Supervise until SIGINT, SIGTERM or SIGHUP, or until ``until`` says so.

        Call from the main thread, once. On return, by whatever way, no process is left.

        Args:
            on_ready: Called with a name when that process is ready for the first time.
            until: Asked ten times a second.
        """
        with self._signals():
            try:
                while not self._num_signals and not until():
                    self._tick(on_ready)
            finally:
                self._stop()

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        def note(number: int, frame: FrameType | None) -> None:
            self._num_signals += 1

        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = {number: signal.signal(number, note) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _tick(self, on_ready: OnReady) -> None:
        self._start_due()
        self._pump(TICK_S)
        self._orphans.bury(self._pids())
        for name, child in list(self._children.items()):
            if child.exit_code is not None:
                self._bury(child)
            elif not child.is_ready and child.spec.is_ready(child.pid):
                child.is_ready = True
                self._say(f"{name} is ready after {child.age_s:.1f} s")
                if name not in self._ready_once:
                    self._ready_once.add(name)
                    on_ready(name)

    def _start_due(self) -> None:
        for spec in self._specs:
            is_due = self._start_at.get(spec.name, math.inf) <= time.monotonic()
            needed = self._children.get(spec.needs)
            if not is_due or (spec.needs and not (needed and needed.is_ready)):
                continue
            child = Child(spec)
            self._children[spec.name] = child
            self._selector.register(child.output, selectors.EVENT_READ, child)
            del self._start_at[spec.name]

    def _pump(self, wait_s: float) -> None:
        """Pass on what the processes say, for at most the time given."""
        if not self._selector.get_map():
            time.sleep(wait_s)
            return
        deadline = time.monotonic() + wait_s
        while (left := deadline - time.monotonic()) > 0:
            ready = self._selector.select(left)
            for key, _ in ready:
                self._pass_on(key.data)
            if any(key.data.exit_code is not None for key, _ in ready):
                return  # A closed pipe is always readable.

    def _pass_on(self, child: Child) -> None:
        for line in child.lines():
            self._log.write(child.spec.name, line)

    def _bury(self, child: Child) -> None:
        """Clear away what is left of a process that died, and plan its next life."""
        name = child.spec.name
        self._remove(child)
        delay_s = self._delays_s.get(name, FIRST_DELAY_S)
        if child.age_s >= LONG_LIFE_S:
            delay_s = FIRST_DELAY_S
        self._delays_s[name] = min(delay_s * 2, MAX_DELAY_S)
        self._start_at[name] = time.monotonic() + delay_s
        self._say(
            f"{name} {_ending(child.exit_code)}; it starts again in {delay_s:g} s"
        )

    def _remove(self, child: Child) -> None:
        del self._children[child.spec.name]
        self._pass_on(child)
        self._selector.unregister(child.output)
        child.close()
        self._orphans.kill(self._pids())

    def _pids(self) -> set[int]:
        return {child.pid for child in self._children.values()}

    def _stop(self) -> None:
        """End the processes, those that others need last."""
        self._say("stopping")
        needed = {spec.needs for spec in self._specs}
        first = [c for c in self._children.values() if c.spec.name not in needed]
        self._end(first)
        self._end(list(self._children.values()))
        self._orphans.kill(self._pids())
        self._selector.close()
        self._say("stopped; nothing is left running")

    def _end(self, children: Sequence[Child]) -> None:
        trees = {child.pid: tree_of(child.pid) for child in children}
        num_signals = self._num_signals
        for child in children:
            child.ask_to_stop()
        deadline = time.monotonic() + GRACE_S
        # A second signal means: at once.
        while time.monotonic() < deadline and self._num_signals == num_signals:
            if all(child.exit_code is not None for child in children):
                break
            self._pump(TICK_S)
        for child in children:
            if child.exit_code is None:
                self._say(f"{child.spec.name} did not end by itself and is killed")
                child.kill()
            kill_all(p for p in trees[child.pid] if p.pid != child.pid)
            self._remove(child)

    def _say(self, text: str) -> None:
        self._log.write(SUPERVISOR, text)


def _marked(spec: ProcessSpec, mark: tuple[str, str]) -> ProcessSpec:
    name, value = mark
    return dataclasses.replace(spec, environment={**spec.environment, name: value})


def _ending(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        return f"was killed by {signal.Signals(-exit_code).name}"
    return f"ended with exit code {exit_code}"
