import json

import pytest

from studio.common.bodies import BodyLimit

pytestmark = pytest.mark.asyncio

MULTIPART = (b"content-type", b"multipart/form-data; boundary=x")


@pytest.fixture
def ask():
    """Send a body in pieces; return the status, the answer and what was read."""

    async def send_pieces(pieces, headers=()):
        read, sent = [], []

        async def application(scope, receive, send):
            is_more = True
            while is_more:
                message = await receive()
                read.append(message["body"])
                is_more = message["more_body"]
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"{}"})

        waiting = list(pieces)

        async def receive():
            body = waiting.pop(0)
            return {"type": "http.request", "body": body, "more_body": bool(waiting)}

        async def send(message):
            sent.append(message)

        limited = BodyLimit(application, max_upload_bytes=100, max_bytes=10)
        scope = {"type": "http", "headers": list(headers)}
        await limited(scope, receive, send)
        return sent[0]["status"], json.loads(sent[1]["body"]), b"".join(read)

    return send_pieces


async def test_a_body_within_its_limit_passes(ask):
    assert await ask([b"12345", b"67890"]) == (200, {}, b"1234567890")


async def test_an_upload_may_be_larger_than_other_bodies(ask):
    status, _, read = await ask([b"x" * 100], [MULTIPART])

    assert (status, len(read)) == (200, 100)


async def test_a_body_that_says_it_is_too_large_is_not_read(ask):
    status, answer, read = await ask([b"x" * 11], [(b"content-length", b"11")])

    assert (status, read) == (413, b"")
    assert answer["code"] == "too_large"
    assert "the 10 bytes allowed" in answer["detail"]


async def test_a_body_that_does_not_say_so_is_cut_off_where_it_passes(ask):
    status, answer, read = await ask([b"x" * 60, b"x" * 60, b"x" * 60], [MULTIPART])

    assert (status, len(read)) == (413, 60)
    assert "the 100 bytes allowed" in answer["detail"]


async def test_other_connections_are_left_alone():
    seen = []

    async def application(scope, receive, send):
        seen.append(scope["type"])

    limited = BodyLimit(application, max_upload_bytes=1, max_bytes=1)
    await limited({"type": "websocket"}, None, None)

    assert seen == ["websocket"]
