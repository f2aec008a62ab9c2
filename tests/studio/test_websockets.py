import pytest

from studio.asgi import application
from tests.websockets import Socket

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]

PATH = "/ws/runs/00000000-0000-0000-0000-000000000000/"


async def is_let_in(origin):
    headers = [(b"origin", origin.encode())] if origin else []
    socket = Socket(application, PATH, headers=headers)
    try:
        return await socket.connect()
    finally:
        await socket.disconnect()


@pytest.mark.parametrize("origin", ["http://127.0.0.1:8000", "http://localhost", None])
async def test_pages_of_this_studio_and_programs_may_connect(origin):
    assert await is_let_in(origin)


async def test_a_page_of_another_host_may_not():
    assert not await is_let_in("https://evil.example")


async def test_who_is_not_signed_in_is_told_so():
    socket = Socket(application, PATH)
    await socket.connect()

    assert await socket.close_code() == 4401
