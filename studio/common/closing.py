"""What is closed at the end of an ``async with`` block."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class AsyncClosing(ABC):
    """A base class: entering gives the object itself, leaving closes it."""

    @abstractmethod
    async def close(self) -> None:
        """Free everything; may be called twice."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()
