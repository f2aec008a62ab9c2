"""What people ask of an environment worker, and who of them has fallen silent."""

import logging

from redis.exceptions import RedisError

from environments.errors import WorkerNotFound, WorkerSilent
from environments.events import Event
from environments.selectors import cluster_now, event_log, workers
from environments.workers import EnvironmentWorker
from studio.common.registry import LAST_WORDS_S, RegistryUnreadable, Seen

logger = logging.getLogger(__name__)


def worker_drain(*, name: str, who: str) -> None:
    """Have a worker begin nothing new; what it plays goes on.

    It holds until the worker is resumed, in its later lives too.

    Args:
        name: The worker's.
        who: User name, for the log.

    Raises:
        WorkerNotFound: If nobody of the name was heard of lately.
        WorkerSilent: If it is lost, or has ended.
        RegistryUnreadable: If Redis does not answer.
    """
    _set_drained(name, is_drained=True)
    logger.info("worker drained", extra={"worker": name, "who": who})


def worker_resume(*, name: str, who: str) -> None:
    """Have a drained worker take episodes again; errors as ``worker_drain`` has them."""
    _set_drained(name, is_drained=False)
    logger.info("worker resumed", extra={"worker": name, "who": who})


def worker_restart(*, name: str, who: str) -> None:
    """Have a worker end itself once it plays nothing; errors as ``worker_drain``'s.

    Whoever supervises it starts it again. After two minutes it no longer waits, and
    what it plays is rolled again.
    """
    seen = _present(name)
    try:
        workers().ask_restart(name, fence=seen.fence)
    except RedisError as error:
        raise RegistryUnreadable(f"the registry does not answer: {error}") from error
    logger.info("worker restarted", extra={"worker": name, "who": who})


def workers_note_lost() -> None:
    """Tell once of every worker that fell silent; the silent cannot tell it themselves."""
    try:
        lost = cluster_now().lost
    except RegistryUnreadable as error:
        logger.warning("cannot tell who is lost: %s", error)
        return
    for seen in lost:
        num = sum(slot.trajectory_id != "" for slot in seen.entry.slots)
        event = Event(
            kind="lost",
            worker=seen.name,
            text=f"is lost; episodes that it played and that are rolled again: {num}",
        )
        event_log().note_once(
            f"lost:{seen.name}#{seen.fence}", event, for_s=int(LAST_WORDS_S) * 2
        )


def _set_drained(name: str, *, is_drained: bool) -> None:
    _present(name)
    try:
        workers().ask_drained(name, is_drained=is_drained)
    except RedisError as error:
        raise RegistryUnreadable(f"the registry does not answer: {error}") from error


def _present(name: str) -> Seen[EnvironmentWorker]:
    """Return the present life of a name."""
    found = [one for one in cluster_now().workers if one[0].name == name]
    if not found:
        raise WorkerNotFound(f"no environment worker {name!r} was heard of lately")
    seen, state = found[-1]
    if state in ("lost", "ended"):
        raise WorkerSilent(
            f"{name} is {state}: it was last heard of {seen.heard_s:.0f} s ago, "
            "so it would not hear this"
        )
    return seen
