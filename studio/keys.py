"""Random keys and the hashes by which they are kept; no Django."""

import hashlib
import secrets

TOKEN_MARK = "oche_"  # noqa: S105 - the public part
"""How every API token begins, so that one that leaked is recognised."""


def new_key(mark: str = "") -> str:
    """Return a key with 256 random bits."""
    return mark + secrets.token_urlsafe(32)


def key_hash(key: str) -> str:
    """Return what is kept of a key."""
    return hashlib.sha256(key.encode()).hexdigest()
