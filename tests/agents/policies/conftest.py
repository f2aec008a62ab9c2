"""Worlds for the tests of policies."""

from tests.worlds import host, page

__all__ = ["host", "page"]
