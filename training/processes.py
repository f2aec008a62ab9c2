"""What managers and trainers say of themselves every two seconds; no Django.

They hold leases in the database, which decide; this only shows people who is there.
"""

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from studio.common.redis import Redis
from studio.common.registry import Registry
from studio.common.usage import MachineUsage

PREFIX: Final = "oche:processes:"

ProcessKind = Literal["manager", "trainer"]


class ProcessEntry(BaseModel):
    """A process as it last described itself."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    kind: ProcessKind
    host: str
    pid: int
    code: str
    """Which code it runs: ``studio.common.version``."""
    up_s: float
    is_supervised: bool
    has_ended: bool = False
    """It has said goodbye."""
    own_bytes: int = 0
    children_bytes: int = 0
    """Of what it started, such as the engine."""
    cpu_percent: float = 0.0
    machine: MachineUsage | None = None


def process_registry(redis: Redis) -> Registry[ProcessEntry]:
    """Return the registry of managers and trainers."""
    return Registry(redis, prefix=PREFIX, model=ProcessEntry)
