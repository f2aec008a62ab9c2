"""One life of one supervised process."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator

from studio.common.process import die_with_parent, kill_tree
from studio.supervisor.spec import ProcessSpec

MAX_LINE_BYTES = 64 * 1024


class Child:
    """A process in a session of its own, its output readable line by line."""

    def __init__(self, spec: ProcessSpec) -> None:
        """Start it; call from the main thread, with which it will die."""
        self.spec = spec
        self.started_at = time.monotonic()
        self.is_ready = False
        self._rest = b""
        self._process = subprocess.Popen(
            spec.command,
            env={**os.environ, **spec.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=die_with_parent,
        )
        assert self._process.stdout is not None  # noqa: S101 - asked for above
        self.output = self._process.stdout
        os.set_blocking(self.output.fileno(), False)

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Return how it ended, None while it lives; negative: by that signal."""
        return self._process.poll()

    @property
    def age_s(self) -> float:
        """Return the seconds since its start."""
        return time.monotonic() - self.started_at

    def lines(self) -> Iterator[str]:
        """Yield what it has said since the last call, without waiting for more."""
        while True:
            try:
                chunk = os.read(self.output.fileno(), MAX_LINE_BYTES)
            except BlockingIOError:
                return
            *whole, self._rest = (self._rest + chunk).split(b"\n")
            if not chunk or len(self._rest) > MAX_LINE_BYTES:
                whole, self._rest = [*whole, self._rest], b""
            for line in whole:
                if line.strip():
                    yield line.decode(errors="replace").rstrip()
            if not chunk:
                return

    def ask_to_stop(self) -> None:
        """Send SIGTERM to the process alone: it knows best how to end its own."""
        if self.exit_code is None:
            self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill it and all that it started, and wait for its end."""
        kill_tree(self.pid)
        self._process.wait()

    def close(self) -> None:
        """Let go of its output."""
        self.output.close()
