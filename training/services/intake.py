"""Whether this process takes messages from its queue: opened and closed while it runs."""

from typing import Any, Protocol


class Intake(Protocol):
    """A queue that can be left and joined again; what was begun goes on."""

    queue: str

    @property
    def is_open(self) -> bool:
        """Whether messages are taken now."""
        ...

    def open(self) -> None:
        """Take messages from soon on; does nothing if they are taken already."""
        ...

    def close(self) -> None:
        """Take none from soon on; does nothing if none is taken."""
        ...


class CeleryIntake:
    """The queue of a Celery worker.

    Asked of the consumer within this process, not by a broadcast: those are lost on a
    connection that breaks, and are heard late by a worker that is busy.
    """

    def __init__(self, consumer: Any, queue: str) -> None:
        self.queue = queue
        self._consumer = consumer

    @property
    def is_open(self) -> bool:
        """Return whether messages are taken; False while the connection is lost."""
        tasks = self._consumer.task_consumer
        return tasks is not None and bool(tasks.consuming_from(self.queue))

    def open(self) -> None:
        """Join the queue, by the consumer's own thread."""
        self._consumer.call_soon(self._join)

    def close(self) -> None:
        """Leave the queue, by the consumer's own thread."""
        self._consumer.call_soon(self._leave)

    def _join(self) -> None:
        if self._consumer.task_consumer is not None:
            self._consumer.add_task_queue(self.queue)

    def _leave(self) -> None:
        if self._consumer.task_consumer is not None and self.is_open:
            self._consumer.cancel_task_queue(self.queue)
