"""Worlds for the tests of environments."""

from tests.worlds import host, page, redis_url

__all__ = ["host", "page", "redis_url"]
