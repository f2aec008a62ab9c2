"""The processes of a studio on one machine."""

import contextlib
import http.client
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from studio.supervisor.ports import HOST
from studio.supervisor.redis_server import answers, redis_command
from studio.supervisor.spec import ProcessSpec

MARK = "OCHE_SUPERVISED"
"""In the environment of every process, with the studio's folder: the one in which a
later life finds what an earlier one left behind."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """What differs from one studio to the next."""

    home: Path
    repository: Path
    port: int
    redis_url: str
    is_redis_embedded: bool
    num_slots: int
    num_trainer_threads: int
    is_inference_ready: Callable[[int], bool]
    """Whether the worker of that process id serves."""


def fleet(plan: Plan) -> list[ProcessSpec]:
    """Return every process, in the order in which they start.

    Raises:
        NoRedisServer: If the embedded server is wanted and there is none.
    """
    redis = ProcessSpec(
        name="redis",
        command=redis_command(plan.home),
        environment=_environment(plan),
        is_ready=lambda pid: answers(plan.redis_url),
    )
    return [
        *([redis] if plan.is_redis_embedded else []),
        _web(plan),
        _inference(plan),
        # Beat lives in the one manager there is; its schedule needs no memory.
        _worker(plan, "manager", 2, "--beat", "--scheduler", "celery.beat:Scheduler"),
        _worker(plan, "rollouts", plan.num_slots),
        _worker(plan, "training", 1, threads=plan.num_trainer_threads),
    ]


def _environment(plan: Plan, *, threads: int = 1) -> dict[str, str]:
    return {
        "OCHE_HOME": str(plan.home),
        "PYTHONUNBUFFERED": "1",
        # Many processes on few cores: what wants more threads says so.
        "OMP_NUM_THREADS": str(threads),
        "TOKENIZERS_PARALLELISM": "false",
    }


def _needs(plan: Plan) -> str:
    return "redis" if plan.is_redis_embedded else ""


def _web(plan: Plan) -> ProcessSpec:
    arguments = f"-m uvicorn studio.asgi:application --host {HOST} --port {plan.port}"
    quiet = "--no-access-log --log-level warning --timeout-graceful-shutdown 3"
    return ProcessSpec(
        name="web",
        command=(sys.executable, *arguments.split(), *quiet.split()),
        # Browsers tell cookies apart by host, not by port.
        environment=_environment(plan)
        | {"OCHE_SESSION_COOKIE": f"oche_session_{plan.port}"},
        is_ready=lambda pid: _web_answers(plan.port),
        needs=_needs(plan),
    )


def _inference(plan: Plan) -> ProcessSpec:
    return ProcessSpec(
        name="inference",
        command=(sys.executable, str(plan.repository / "manage.py"), "inference"),
        environment=_environment(plan),
        is_ready=plan.is_inference_ready,
        needs=_needs(plan),
    )


def _worker(
    plan: Plan, queue: str, concurrency: int, *more: str, threads: int = 1
) -> ProcessSpec:
    name = {"rollouts": "environments", "training": "trainer"}.get(queue, queue)
    pool = "solo" if queue == "training" else "threads"
    ready_file = plan.home / "run" / f"{name}.ready"
    arguments = (
        f"-m celery -A studio.celery -q worker -Q {queue} -n {name}@%h --pool {pool}"
    )
    quiet = "--without-gossip --without-mingle --without-heartbeat --loglevel INFO"
    return ProcessSpec(
        name=name,
        command=(
            sys.executable,
            *arguments.split(),
            *("--concurrency", str(concurrency)),
            *quiet.split(),
            *more,
        ),
        environment=_environment(plan, threads=threads)
        | {
            "OCHE_READY_FILE": str(ready_file),
            # In a container root is the usual user, and pickles are not accepted.
            "PYTHONWARNINGS": "ignore:You're running the worker with superuser",
        },
        is_ready=lambda pid: _says_ready(ready_file, pid),
        needs=_needs(plan),
    )


def _says_ready(file: Path, pid: int) -> bool:
    """Return whether this life of the worker has written its id into the file."""
    try:
        return file.read_text() == str(pid)
    except OSError:
        return False


def _web_answers(port: int) -> bool:
    with contextlib.closing(http.client.HTTPConnection(HOST, port, timeout=0.4)) as ask:
        try:
            ask.request("GET", "/healthz")
            return ask.getresponse().status == http.HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False
