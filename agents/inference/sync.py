"""Brings new weights to inference workers, a few workers at a time.

While some load, the others serve; and even one that loads loses no request.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import httpx
from pydantic import ValidationError

from agents.errors import SyncFailed
from agents.inference.protocol import ErrorResponse
from agents.inference.registry import LiveWorker
from agents.inference.types import Weights

__all__ = ["SyncOutcome", "Weights", "bring_up_to_date", "missing", "sync_worker"]

TIMEOUT_S: Final = 60.0
ATTEMPTS: Final = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class SyncOutcome:
    """What became of one model on one worker."""

    worker_id: str
    model: str
    version: int
    error: str = ""
    """Why it failed; empty when it did not."""


async def sync_worker(
    worker: LiveWorker,
    *,
    model: str,
    version: int,
    path: str,
    sha256: str,
    secret: str,
    timeout_s: float = TIMEOUT_S,
) -> None:
    """Give one worker one version; asking for what it has already does nothing.

    Raises:
        SyncFailed: If it could not take them; the message says why.
    """
    body = {"model": model, "version": version, "path": path, "sha256": sha256}
    try:
        async with httpx.AsyncClient(timeout=timeout_s, trust_env=False) as http:
            response = await http.post(
                f"{worker.url}/oche/weights",
                json=body,
                headers={"Authorization": f"Bearer {secret}"},
            )
    except httpx.TransportError as error:
        raise SyncFailed(
            f"worker {worker.worker_id} is unreachable: {error!r}"
        ) from error
    if response.status_code != httpx.codes.OK:
        raise SyncFailed(f"worker {worker.worker_id} said {_reason(response)}")


async def bring_up_to_date(
    workers: Sequence[LiveWorker], desired: Mapping[str, Weights], *, secret: str
) -> list[SyncOutcome]:
    """Give every worker the weights that it lacks.

    Two workers load at a time when there are four or more, else one. Two syncs of
    one worker never overlap. A failed one is tried once more.

    Args:
        workers: Who is alive, as the registry describes them.
        desired: What each model should be, by its name.
        secret: The workers' bearer secret.

    Returns:
        One outcome for each model that a worker lacked, in the workers' order.
    """
    at_a_time = asyncio.Semaphore(2 if len(workers) >= 4 else 1)

    async def one(worker: LiveWorker) -> list[SyncOutcome]:
        async with at_a_time:
            return [
                await _try(worker, model, weights, secret=secret)
                for model, weights in missing(worker, desired).items()
            ]

    outcomes = await asyncio.gather(*(one(worker) for worker in workers))
    return [outcome for of_worker in outcomes for outcome in of_worker]


def missing(worker: LiveWorker, desired: Mapping[str, Weights]) -> dict[str, Weights]:
    """Return what a worker lacks, by the model's name.

    Hashes count beside versions: a resumed run may publish a version anew.
    """
    return {
        model: weights
        for model, weights in desired.items()
        if worker.models.get(model) != weights.version
        or worker.sha256s.get(model) != weights.sha256
    }


async def _try(
    worker: LiveWorker, model: str, weights: Weights, *, secret: str
) -> SyncOutcome:
    error = ""
    for _ in range(ATTEMPTS):
        try:
            await sync_worker(
                worker,
                model=model,
                version=weights.version,
                path=weights.path,
                sha256=weights.sha256,
                secret=secret,
            )
        except SyncFailed as failure:
            error = str(failure)
        else:
            return SyncOutcome(
                worker_id=worker.worker_id, model=model, version=weights.version
            )
    return SyncOutcome(
        worker_id=worker.worker_id,
        model=model,
        version=weights.version,
        error=error,
    )


def _reason(response: httpx.Response) -> str:
    try:
        error = ErrorResponse.model_validate_json(response.content).error
    except ValidationError:
        return f"HTTP {response.status_code}"
    return f"{error.code}: {error.detail}"
