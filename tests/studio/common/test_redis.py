import os
import stat
from pathlib import Path

import pytest

from studio.common.redis import (
    MAX_SOCKET_PATH,
    broker_url,
    embedded_url,
    make_socket_folder,
    socket_path,
)


def test_the_socket_lies_in_the_studios_folder():
    assert socket_path(Path("/srv/oche")) == Path("/srv/oche/redis/redis.sock")


def test_a_path_that_is_too_long_for_a_socket_is_replaced_by_a_short_one():
    deep = Path("/srv/" + "deep/" * 30)

    path = socket_path(deep)

    assert len(os.fsencode(path)) <= MAX_SOCKET_PATH
    assert path == socket_path(deep) != socket_path(deep / "other")


def test_only_its_owner_may_enter_the_sockets_folder(tmp_path):
    make_socket_folder(tmp_path / "redis" / "redis.sock")

    assert stat.S_IMODE((tmp_path / "redis").stat().st_mode) == 0o700


def test_a_link_in_the_sockets_place_is_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "redis").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(PermissionError):
        make_socket_folder(tmp_path / "redis" / "redis.sock")


@pytest.mark.parametrize(
    ("url", "celerys"),
    [
        (embedded_url(Path("/o")), "redis+socket:///o/redis/redis.sock"),
        ("redis://host:6379/1", "redis://host:6379/1"),
    ],
)
def test_celery_reads_the_same_address_in_its_own_spelling(url, celerys):
    assert broker_url(url) == celerys
