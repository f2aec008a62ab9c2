"""The HTTP face of an inference worker: a bare ASGI application; no torch."""

import asyncio
import hmac
import json
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from agents.errors import InferenceFailed, PolicyInvalid
from agents.inference.engines.base import (
    BadPrompt,
    Engine,
    ModelNotLoaded,
    Sampled,
    SampleRequest,
)
from agents.inference.protocol import (
    ChatRequest,
    ChatResponse,
    Choice,
    ChoiceMessage,
    ErrorBody,
    ErrorResponse,
    LoadedModel,
    Logprobs,
    OcheFields,
    TokenLogprob,
    Usage,
    WeightsRequest,
    WorkerState,
    messages_from_wire,
)
from agents.inference.types import Weights

logger = logging.getLogger(__name__)

MAX_REQUEST_BYTES: Final = 64 * 2**20
"""Twenty full-HD screenshots as base64, generously."""

T = TypeVar("T", bound=BaseModel)
Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Handler = Callable[[bytes], Awaitable[BaseModel | dict[str, Any]]]


class HttpError(Exception):
    """An answer other than 200."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code


class InferenceApp:
    """Answers requests with an engine; knows nothing of processes and Redis."""

    def __init__(
        self,
        *,
        engine: Engine,
        secret: str,
        worker_id: str,
        pid: int,
        max_request_bytes: int = MAX_REQUEST_BYTES,
    ) -> None:
        self._engine = engine
        self._secret = secret.encode()
        self._worker_id = worker_id
        self._pid = pid
        self._max_request_bytes = max_request_bytes
        self._started_at = time.time()
        self._routes: dict[tuple[str, str], Handler] = {
            ("GET", "/health"): self._health,
            ("GET", "/v1/models"): self._models,
            ("GET", "/oche/state"): self._state,
            ("POST", "/v1/chat/completions"): self._complete,
            ("POST", "/oche/weights"): self._load,
        }
        self.is_draining = False
        """Set when no new requests shall be taken."""
        self.on_models_changed: Callable[[], None] = lambda: None
        """Called after new weights are in use."""

    async def __call__(
        self, scope: Mapping[str, Any], receive: Receive, send: Send
    ) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        try:
            handler = self._route(scope)
            answer = await handler(await self._read(scope, receive))
            status = 200
        except HttpError as error:
            status, answer = error.status, _error(error.code, str(error))
        except Exception:
            # The boundary of HTTP: the caller gets no insides, the log does.
            logger.exception("request failed", extra={"path": scope["path"]})
            status, answer = 500, _error("internal", "internal error; see the log")
        await _send(send, status, answer)

    def state(self) -> WorkerState:
        """Return what this worker holds and does."""
        state = self._engine.state()
        return WorkerState(
            worker_id=self._worker_id,
            pid=self._pid,
            models=[
                LoadedModel(
                    model=name,
                    version=weights.version,
                    sha256=weights.sha256,
                    path=weights.path,
                )
                for name, weights in state.models.items()
            ],
            in_flight=state.in_flight,
            waiting=state.waiting,
            tokens_sampled=state.tokens_sampled,
            busy_seconds=state.busy_seconds,
            started_at=self._started_at,
        )

    def _route(self, scope: Mapping[str, Any]) -> Handler:
        path = scope["path"]
        if path != "/health" and not self._is_authorized(scope):
            raise HttpError(401, "unauthorized", "expected Authorization: Bearer …")
        handler = self._routes.get((scope["method"], path))
        if handler is None:
            raise HttpError(404, "not_found", f"there is no {scope['method']} {path}")
        return handler

    def _is_authorized(self, scope: Mapping[str, Any]) -> bool:
        given = next(
            (value for name, value in scope["headers"] if name == b"authorization"), b""
        )
        return hmac.compare_digest(given, b"Bearer " + self._secret)

    async def _read(self, scope: Mapping[str, Any], receive: Receive) -> bytes:
        announced = next(
            (value for name, value in scope["headers"] if name == b"content-length"),
            b"0",
        )
        self._check_size(int(announced))
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise HttpError(400, "incomplete", "the connection ended early")
            body += message.get("body", b"")
            self._check_size(len(body))
            if not message.get("more_body", False):
                return bytes(body)

    def _check_size(self, size: int) -> None:
        if size > self._max_request_bytes:
            raise HttpError(
                413,
                "request_too_large",
                f"expected at most {self._max_request_bytes} bytes",
            )

    async def _health(self, _: bytes) -> dict[str, Any]:
        return {"status": "draining" if self.is_draining else "ok"}

    async def _models(self, _: bytes) -> dict[str, Any]:
        models = [
            {"id": loaded.model, "object": "model", "owned_by": "oche"}
            for loaded in self.state().models
        ]
        return {"object": "list", "data": models}

    async def _state(self, _: bytes) -> BaseModel:
        return self.state()

    async def _complete(self, body: bytes) -> BaseModel:
        self._refuse_when_draining()
        request = _parse(ChatRequest, body)
        try:
            # In a thread: reading pictures would hold up every other request.
            future = await asyncio.to_thread(self._submit, request)
            sampled = await asyncio.wrap_future(future)
        except ModelNotLoaded as error:
            raise HttpError(404, error.code, str(error)) from error
        except BadPrompt as error:
            raise HttpError(400, error.code, str(error)) from error
        except InferenceFailed as error:
            raise HttpError(503, "engine_failed", str(error)) from error
        return _chat_response(request.model, sampled)

    def _submit(self, request: ChatRequest) -> Any:
        try:
            messages, images = messages_from_wire(request.messages)
        except ValueError as error:
            raise BadPrompt(str(error)) from error
        return self._engine.submit(
            SampleRequest(
                model=request.model,
                messages=messages,
                images=images,
                temperature=request.temperature,
                top_p=request.top_p,
                max_tokens=request.max_tokens,
                seed=request.seed,
            )
        )

    async def _load(self, body: bytes) -> BaseModel:
        self._refuse_when_draining()
        request = _parse(WeightsRequest, body)
        weights = Weights(
            version=request.version, path=request.path, sha256=request.sha256
        )
        try:
            await asyncio.to_thread(self._engine.load, request.model, weights)
        except PolicyInvalid as error:
            raise HttpError(400, error.code, str(error)) from error
        except InferenceFailed as error:
            raise HttpError(503, "engine_failed", str(error)) from error
        self.on_models_changed()
        logger.info(
            "weights loaded", extra={"model": request.model, "version": request.version}
        )
        return self.state()

    def _refuse_when_draining(self) -> None:
        if self.is_draining:
            raise HttpError(503, "draining", "this worker is about to end")


def _parse(kind: type[T], body: bytes) -> T:
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        mistakes = "; ".join(
            f"{'.'.join(map(str, item['loc'])) or 'body'}: {item['msg']}"
            for item in error.errors(include_input=False, include_url=False)
        )
        raise HttpError(400, "invalid", mistakes) from error


def _chat_response(model: str, sampled: Sampled) -> ChatResponse:
    pairs = zip(sampled.token_texts, sampled.logprobs, strict=True)
    prompt_tokens, tokens = len(sampled.prompt_token_ids), len(sampled.token_ids)
    return ChatResponse(
        id=f"chatcmpl-{uuid.uuid4().hex}",
        created=int(time.time()),
        model=model,
        choices=[
            Choice(
                message=ChoiceMessage(content=sampled.text),
                finish_reason="stop" if sampled.finish_reason == "stop" else "length",
                token_ids=sampled.token_ids,
                logprobs=Logprobs(
                    content=[TokenLogprob(token=t, logprob=lp) for t, lp in pairs]
                ),
            )
        ],
        prompt_token_ids=sampled.prompt_token_ids,
        usage=Usage(
            prompt_tokens=prompt_tokens,
            completion_tokens=tokens,
            total_tokens=prompt_tokens + tokens,
        ),
        oche=OcheFields(
            versions=sampled.versions,
            entropies=sampled.entropies,
            queue_s=sampled.queue_s,
            model_s=sampled.model_s,
        ),
    )


def _error(code: str, detail: str) -> ErrorResponse:
    return ErrorResponse(error=ErrorBody(code=code, detail=detail))


async def _send(send: Send, status: int, answer: BaseModel | dict[str, Any]) -> None:
    if isinstance(answer, BaseModel):
        body = answer.model_dump_json().encode()
    else:
        body = json.dumps(answer).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
