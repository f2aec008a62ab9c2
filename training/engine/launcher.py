"""Starts an engine, asks it, and makes sure that it is gone; knows no torch."""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ValidationError

from studio.common.process import die_with_parent
from training.engine.protocol import (
    PROTOCOL_VERSION,
    REPLIES,
    EngineSettings,
    Failed,
    Ready,
    Stepped,
    TrainBatch,
    TrainRows,
)

STDERR_TAIL_BYTES = 4000


class EngineDied(Exception):
    """The engine ended, hung or spoke nonsense; the message holds its last words."""

    code = "training.engine.died"


class EngineRefused(Exception):
    """The engine could not do what was asked, and says why; it lives on."""

    code = "training.engine.refused"


class EngineProcess:
    """One resident engine. Use from one thread; ``close`` may be called twice."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self._process = process
        self._log = log
        self._buffer = b""
        self.ready: Ready

    @classmethod
    def start(
        cls, *, config: BaseModel, settings: EngineSettings, log: Path, timeout_s: float
    ) -> Self:
        """Start an engine and wait until it has its model.

        Args:
            config: The run's configuration.
            settings: Where things are.
            log: File that the engine's stderr is added to.
            timeout_s: Loading a large model takes minutes.

        Raises:
            EngineDied: If it ends or is not ready in time.
        """
        log.parent.mkdir(parents=True, exist_ok=True)
        arguments = json.dumps(
            {
                "config": config.model_dump(mode="json"),
                "settings": settings.model_dump(),
            }
        )
        with log.open("ab") as stderr:
            process = subprocess.Popen(
                [sys.executable, "-m", "training.engine"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=Path(__file__).parents[2],
                env=os.environ | {"OMP_NUM_THREADS": str(settings.num_threads)},
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        engine = cls(process, log)
        try:
            reply = engine._exchange(arguments.encode(), timeout_s)
            if not isinstance(reply, Ready):
                raise engine._death(f"expected that it is ready, got {reply}")
            if reply.protocol_version != PROTOCOL_VERSION:
                raise engine._death(f"it speaks protocol {reply.protocol_version}")
        except BaseException:
            engine.close()
            raise
        engine.ready = reply
        return engine

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    def request(self, message: TrainBatch | TrainRows, *, timeout_s: float) -> Stepped:
        """Ask for work and wait for the answer.

        Raises:
            EngineDied: If it ends, hangs or answers nonsense; it is killed then.
            EngineRefused: If it says that it cannot.
        """
        try:
            reply = self._exchange(message.model_dump_json().encode(), timeout_s)
        except EngineDied:
            self.close()
            raise
        if isinstance(reply, Failed):
            raise EngineRefused(reply.detail)
        if not isinstance(reply, Stepped):
            self.close()
            raise self._death(f"expected the steps that it did, got {reply.kind}")
        return reply

    def close(self) -> None:
        """Kill the engine and everything that it started."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def _exchange(self, line: bytes, timeout_s: float) -> Ready | Stepped | Failed:
        stdin = self._process.stdin
        assert stdin is not None  # noqa: S101 - opened as a pipe above
        try:
            stdin.write(line + b"\n")
            stdin.flush()
            return REPLIES.validate_json(self._read_line(timeout_s))
        except OSError as error:
            raise self._death(str(error)) from error
        except ValidationError as error:
            raise self._death(f"it answered nonsense: {error}") from error

    def _read_line(self, timeout_s: float) -> bytes:
        stdout = self._process.stdout
        assert stdout is not None  # noqa: S101 - opened as a pipe above
        deadline = time.monotonic() + timeout_s
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise self._death(f"no answer within {timeout_s:.0f} s")
                chunk = os.read(stdout.fileno(), 65536)
                if not chunk:
                    raise self._death("it ended")
                self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _death(self, what: str) -> EngineDied:
        try:
            tail = self._log.read_bytes()[-STDERR_TAIL_BYTES:].decode(errors="replace")
        except OSError:
            tail = ""
        return EngineDied(f"the training engine failed: {what}\n{tail}".rstrip())
