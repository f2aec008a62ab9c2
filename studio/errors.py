"""How an error becomes an HTTP answer: the only place that knows both."""

from collections.abc import Iterator
from typing import Any, ClassVar

import pydantic
from django.core.exceptions import ObjectDoesNotExist
from django.core.exceptions import ValidationError as DjangoValidationError
from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import exception_handler as drf_exception_handler

from environments.errors import (
    BoardUnreachable,
    InvalidAction,
    SlotNotFound,
    UnknownBackend,
    UnknownTask,
    WorkerNotFound,
    WorkerSilent,
)
from studio.common.registry import RegistryUnreadable
from training.errors import (
    DatasetNotReady,
    EvaluationInvalid,
    FilesMissing,
    InvalidTransition,
    LeaseLost,
    PolicyNotFound,
    TaskNotFound,
    UploadTooLarge,
)

WHOLE = "non_field_errors"
"""The path of a mistake that belongs to no single field."""


class StudioError(Exception):
    """Base of every error that the studio itself raises on purpose."""

    code: ClassVar[str] = "studio.error"


class LinkSpent(StudioError):
    """A sign-in link that signs nobody in (any more)."""

    code = "studio.sign_in_link.spent"


HTTP_STATUS: dict[type[Exception], int] = {
    InvalidAction: status.HTTP_400_BAD_REQUEST,
    UnknownBackend: status.HTTP_404_NOT_FOUND,
    UnknownTask: status.HTTP_404_NOT_FOUND,
    SlotNotFound: status.HTTP_404_NOT_FOUND,
    WorkerNotFound: status.HTTP_404_NOT_FOUND,
    WorkerSilent: status.HTTP_409_CONFLICT,
    RegistryUnreadable: status.HTTP_503_SERVICE_UNAVAILABLE,
    BoardUnreachable: status.HTTP_503_SERVICE_UNAVAILABLE,
    DatasetNotReady: status.HTTP_400_BAD_REQUEST,
    EvaluationInvalid: status.HTTP_400_BAD_REQUEST,
    PolicyNotFound: status.HTTP_400_BAD_REQUEST,
    TaskNotFound: status.HTTP_400_BAD_REQUEST,
    FilesMissing: status.HTTP_404_NOT_FOUND,
    InvalidTransition: status.HTTP_409_CONFLICT,
    LeaseLost: status.HTTP_409_CONFLICT,
    UploadTooLarge: status.HTTP_413_REQUEST_ENTITY_TOO_LARGE,
    LinkSpent: status.HTTP_410_GONE,
}
"""Domain error -> status; a subclass answers as its nearest listed base."""


def exception_handler(exc: Exception, context: dict[str, Any]) -> Response | None:
    """Answer ``{"code", "detail"}``, or for mistakes in the input every one of them.

    What nobody knows becomes a 500: it is a bug, and is not dressed up.
    """
    for base in type(exc).__mro__:
        if base in HTTP_STATUS:
            code = getattr(exc, "code", "error")
            return _answer(code, str(exc), HTTP_STATUS[base])
    if isinstance(exc, ObjectDoesNotExist):
        # Also what is someone else's: its existence is not given away.
        exc = Http404()
    errors = mistakes(exc)
    if errors is not None:
        body = {"code": "invalid", "errors": errors}
        return Response(body, status=status.HTTP_400_BAD_REQUEST)
    response = drf_exception_handler(exc, context)
    if response is not None:
        response.data = _coded(exc, response)
    return response


def mistakes(exc: Exception) -> dict[str, list[str]] | None:
    """Return every mistake in an input by its path, None if ``exc`` is of no such kind.

    Paths join fields and positions by dots: ``config.tasks.0``.
    """
    if isinstance(exc, pydantic.ValidationError):
        return pydantic_mistakes(exc)
    if isinstance(exc, exceptions.ValidationError):
        return _collect(_walk(exc.detail, ()))
    if isinstance(exc, DjangoValidationError):
        detail = exc.message_dict if hasattr(exc, "error_dict") else exc.messages
        return _collect(_walk(detail, ()))
    return None


def pydantic_mistakes(
    exc: pydantic.ValidationError, *, under: str = ""
) -> dict[str, list[str]]:
    """Return pydantic's findings by path, each path put under ``under``."""
    return _collect(
        (".".join([*([under] if under else []), *map(str, item["loc"])]), item["msg"])
        for item in exc.errors(include_url=False)
    )


def _collect(pairs: Iterator[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path, message in pairs:
        found.setdefault(path or WHOLE, []).append(message)
    return found


def _walk(detail: Any, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if isinstance(detail, dict):
        for key, value in detail.items():
            inner = path if key in (WHOLE, "__all__") else (*path, str(key))
            yield from _walk(value, inner)
    elif isinstance(detail, list | tuple):
        for index, value in enumerate(detail):
            is_nested = isinstance(value, dict | list)
            yield from _walk(value, (*path, str(index)) if is_nested else path)
    else:
        yield ".".join(path), str(detail)


def _coded(exc: Exception, response: Response) -> dict[str, str]:
    if isinstance(exc, exceptions.APIException):
        codes = exc.get_codes()
        code = codes if isinstance(codes, str) else exc.default_code
    else:
        code = {403: "permission_denied", 404: "not_found"}[response.status_code]
    return {"code": code, "detail": str(response.data.get("detail", exc))}


def _answer(code: str, detail: str, http_status: int) -> Response:
    return Response({"code": code, "detail": detail}, status=http_status)
