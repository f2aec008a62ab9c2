"""How a run's configuration is read from a request; every mistake by its path."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError
from rest_framework import serializers

from training.config import RlConfig, SftConfig
from training.presets import PRESETS

KINDS: Final[dict[str, type[RlConfig] | type[SftConfig]]] = {
    "rl": RlConfig,
    "sft": SftConfig,
}


def config_read(value: object) -> RlConfig | SftConfig:
    """Read a configuration strictly.

    The class is chosen here rather than by pydantic's union, whose errors would carry
    the name of the class in their path.

    Raises:
        serializers.ValidationError: With every mistake, by its path.
    """
    if not isinstance(value, Mapping):
        raise serializers.ValidationError("expected an object")
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        known = ", ".join(KINDS)
        raise serializers.ValidationError(
            {"kind": [f"expected one of {known}, found {kind!r}"]}
        )
    try:
        return KINDS[kind].model_validate(value)
    except ValidationError as error:
        raise serializers.ValidationError(_by_path(error)) from error


def config_from_preset(
    preset: str, overrides: Mapping[str, Any]
) -> RlConfig | SftConfig:
    """Read a preset's configuration with some fields changed.

    Raises:
        serializers.ValidationError: As ``config_read``.
    """
    merged = _merged(PRESETS[preset], overrides)
    return config_read(merged | {"preset": preset})


def _merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in changes.items():
        old = merged.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        merged[key] = _merged(old, value) if both else value  # type: ignore[arg-type]
    return merged


def _by_path(error: ValidationError) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for item in error.errors(include_url=False):
        path = ".".join(map(str, item["loc"])) or "config"
        message = item["msg"].removeprefix("Value error, ")
        found.setdefault(path, []).append(message)
    return found
