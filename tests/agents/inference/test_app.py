"""The HTTP face of a worker, with a real engine and without a socket."""

import asyncio
import json

import httpx
import pytest

from agents.inference.app import InferenceApp
from agents.inference.protocol import ChatRequest, messages_to_wire
from tests.agents.inference.helpers import prompt

SECRET = {"Authorization": "Bearer s3cret"}


@pytest.fixture
def app(engine):
    return InferenceApp(
        engine=engine,
        secret="s3cret",
        worker_id="w1",
        pid=42,
        max_request_bytes=100_000,
    )


def call(app, method, path, headers=SECRET, **options):
    async def go():
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://w") as http:
            return await http.request(method, path, headers=headers, **options)

    return asyncio.run(go())


def chat(**fields):
    body = ChatRequest(
        model="run-a", messages=messages_to_wire(prompt()), temperature=0, max_tokens=4
    )
    return json.loads(body.model_dump_json(exclude_none=True)) | fields


def test_a_completion_has_openais_shape_and_the_tokens(app):
    response = call(app, "POST", "/v1/chat/completions", json=chat())

    assert response.status_code == 200
    answer = response.json()
    choice = answer["choices"][0]
    assert answer["object"] == "chat.completion"
    assert choice["message"]["role"] == "assistant"
    assert choice["finish_reason"] == "length"
    assert len(choice["token_ids"]) == len(choice["logprobs"]["content"]) == 4
    assert answer["oche"]["versions"] == [0, 0, 0, 0]
    assert len(answer["oche"]["entropies"]) == 4
    assert answer["usage"] == {
        "prompt_tokens": len(answer["prompt_token_ids"]),
        "completion_tokens": 4,
        "total_tokens": len(answer["prompt_token_ids"]) + 4,
    }


@pytest.mark.parametrize("path", ["/v1/models", "/oche/state", "/nowhere"])
@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}])
def test_without_the_secret_nothing_is_told(app, path, headers):
    response = call(app, "GET", path, headers=headers)

    assert response.status_code == 401
    assert response.json()["error"]["code"] == "unauthorized"


def test_health_needs_no_secret(app):
    assert call(app, "GET", "/health", headers={}).json() == {"status": "ok"}


def test_a_model_that_is_not_there_is_404(app):
    response = call(app, "POST", "/v1/chat/completions", json=chat(model="run-z"))

    assert response.status_code == 404
    assert response.json()["error"]["code"] == "model_not_loaded"


def test_every_mistake_of_a_request_is_named_by_its_path(app):
    wrong = chat(temperature=-1, max_tokens=0, colour="red")

    response = call(app, "POST", "/v1/chat/completions", json=wrong)

    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (400, "invalid")
    for path in ("temperature", "max_tokens", "colour"):
        assert path in error["detail"]


def test_a_picture_that_is_not_base64_is_400(app):
    body = chat()
    body["messages"][0]["content"][0]["image_url"]["url"] = "data:image/png;base64,a"

    response = call(app, "POST", "/v1/chat/completions", json=body)

    assert response.status_code == 400
    assert response.json()["error"]["code"] == "bad_prompt"


def test_a_picture_elsewhere_is_not_fetched(app):
    body = chat()
    body["messages"][0]["content"][0]["image_url"]["url"] = "http://169.254.169.254/"

    assert call(app, "POST", "/v1/chat/completions", json=body).status_code == 400


def test_a_request_that_is_too_large_is_413(app):
    response = call(app, "POST", "/v1/chat/completions", content=b"x" * 100_001)

    assert response.status_code == 413


def test_a_draining_worker_takes_nothing_new(app):
    app.is_draining = True

    response = call(app, "POST", "/v1/chat/completions", json=chat())

    assert response.status_code == 503
    assert response.json()["error"]["code"] == "draining"
    assert call(app, "GET", "/health").json() == {"status": "draining"}


def test_new_weights_answer_the_next_request(app, weights_of):
    changes = []
    app.on_models_changed = lambda: changes.append(1)
    weights = weights_of("1", version=5)
    body = {
        "model": "run-a",
        "version": 5,
        "path": weights.path,
        "sha256": weights.sha256,
    }

    state = call(app, "POST", "/oche/weights", json=body).json()
    answer = call(app, "POST", "/v1/chat/completions", json=chat()).json()

    assert state["models"] == [body]
    assert answer["oche"]["versions"] == [5] * 4
    assert changes == [1]


def test_bad_weights_are_400_with_the_reason(app, weights_of):
    weights = weights_of("1")
    body = {"model": "run-a", "version": 5, "path": weights.path, "sha256": "0" * 64}

    response = call(app, "POST", "/oche/weights", json=body)

    assert response.status_code == 400
    assert response.json()["error"]["code"] == "agents.policy_invalid"
    assert f"has sha256 {weights.sha256}" in response.json()["error"]["detail"]


def test_the_state_names_the_worker_and_its_models(app, weights_of):
    state = call(app, "GET", "/oche/state").json()

    assert (state["worker_id"], state["pid"]) == ("w1", 42)
    assert [loaded["model"] for loaded in state["models"]] == ["run-a"]
    models = call(app, "GET", "/v1/models").json()["data"]
    assert [model["id"] for model in models] == ["run-a"]


def test_a_bug_tells_the_caller_no_insides(app, monkeypatch):
    monkeypatch.setattr(app._engine, "state", lambda: 1 / 0)

    response = call(app, "GET", "/oche/state")

    assert response.status_code == 500
    assert "division" not in response.text
