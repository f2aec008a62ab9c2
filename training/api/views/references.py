"""Names in a request that lead nowhere: mistakes like any other, by their path."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rest_framework import serializers

from training.errors import (
    DatasetNotReady,
    PolicyNotFound,
    TaskNotFound,
    TrainingError,
)

FIELDS: Final[dict[type[TrainingError], str]] = {
    PolicyNotFound: "policy",
    TaskNotFound: "tasks",
    DatasetNotReady: "dataset",
}


@contextmanager
def references_by_path(under: str = "") -> Iterator[None]:
    """Turn a reference that a service could not follow into a mistake at its field.

    Raises:
        serializers.ValidationError: With the path, put under ``under``.
    """
    try:
        yield
    except tuple(FIELDS) as error:
        path = ".".join(part for part in (under, FIELDS[type(error)]) if part)
        raise serializers.ValidationError({path: [str(error)]}) from error
