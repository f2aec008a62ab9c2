"""Fixtures of real worlds: a browser, a Redis; import them into a ``conftest``."""

import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
import redis

from environments.backends.miniwob.environment import MiniWobEnvironment
from environments.backends.miniwob.host import MiniWobHost


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def host() -> AsyncIterator[MiniWobHost]:
    """Return a browser that the tests of a module share."""
    async with MiniWobHost() as host:
        yield host


@pytest_asyncio.fixture(loop_scope="module")
async def page(host: MiniWobHost) -> AsyncIterator[MiniWobEnvironment]:
    """Return a page of the shared browser, new for each test."""
    async with MiniWobEnvironment(host) as environment:
        yield environment


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of a Redis server of this module's own."""
    socket = tmp_path_factory.mktemp("redis") / "r.sock"
    server = _start_redis(socket)
    yield f"unix://{socket}"
    server.kill()
    server.wait()


def _start_redis(socket: Path) -> subprocess.Popen[bytes]:
    server = subprocess.Popen(
        ["redis-server", "--port", "0", "--unixsocket", str(socket), "--save", ""],
        cwd=socket.parent,
        stdout=subprocess.DEVNULL,
    )
    client = redis.Redis(unix_socket_path=str(socket))
    for _ in range(100):
        try:
            client.ping()
        except redis.ConnectionError:
            time.sleep(0.05)
        else:
            return server
    server.kill()
    raise RuntimeError("redis-server did not come up")
