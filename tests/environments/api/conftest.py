"""The API's tests of slots use a real Redis."""

from tests.worlds import redis_url

__all__ = ["redis_url"]
