"""Where Redis is, and connections to it; no Django.

One address serves four libraries: redis-py, channels-redis and Celery read it in three
spellings, which are made here. The embedded server listens on a socket file only.
"""

import hashlib
import os
import stat
import tempfile
from pathlib import Path

import redis
import redis.asyncio

MAX_SOCKET_PATH = 100
"""Bytes; the kernel takes 107."""

Redis = redis.Redis
AsyncRedis = redis.asyncio.Redis


def socket_path(home: Path) -> Path:
    """Return the embedded server's socket below the studio's folder.

    Where that path is too long for a socket: in a folder of the user's own among the
    temporary files, found again from the studio's folder alone.
    """
    path = home / "redis" / "redis.sock"
    if len(os.fsencode(path)) <= MAX_SOCKET_PATH:
        return path
    digest = hashlib.sha256(os.fsencode(home)).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"oche-{os.getuid()}-{digest}" / "redis.sock"


def make_socket_folder(path: Path) -> None:
    """Make the socket's folder, for its owner alone.

    Raises:
        PermissionError: If somebody else made it first.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    status = path.parent.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise PermissionError(f"{path.parent} is not a folder of this user's own")
    path.parent.chmod(0o700)


def embedded_url(home: Path) -> str:
    """Return the address of the studio's own server."""
    return f"unix://{socket_path(home)}"


def broker_url(url: str) -> str:
    """Return the same address as Celery spells it."""
    if url.startswith("unix://"):
        return "redis+socket://" + url.removeprefix("unix://")
    return url


def connect(url: str) -> Redis:
    """Return a client that gives up on a silent server and retries a lost connection."""
    return redis.Redis.from_url(
        url, socket_timeout=5, socket_connect_timeout=5, health_check_interval=30
    )


def connect_async(url: str) -> AsyncRedis:
    """Return the asynchronous client; it belongs to the running event loop."""
    return redis.asyncio.Redis.from_url(
        url, socket_timeout=5, socket_connect_timeout=5, health_check_interval=30
    )
