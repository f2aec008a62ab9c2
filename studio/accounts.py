"""The first administrator, and links that sign in once."""

import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from studio.errors import LinkSpent
from studio.keys import key_hash, new_key
from studio.models import SignInLink

ADMINISTRATOR = "admin"
LINK_LIFETIME = timedelta(hours=12)


@transaction.atomic
def administrator_ensure() -> User:
    """Return the first active administrator, made if there is none.

    The new one has a password that nobody knows: the way in is a sign-in link, and a
    password may be set from within.
    """
    admins = User.objects.filter(is_superuser=True, is_active=True).order_by("pk")
    if existing := admins.first():
        return existing
    name = ADMINISTRATOR
    while User.objects.filter(username=name).exists():
        name = f"{ADMINISTRATOR}-{secrets.token_hex(3)}"
    return User.objects.create_superuser(username=name)


def sign_in_link_create(*, user: User, lifetime: timedelta = LINK_LIFETIME) -> str:
    """Make a link that signs the user in once.

    Returns:
        The path, which is never to be had again: ``/sign-in/<key>/``.
    """
    key = new_key()
    SignInLink.objects.create(
        user=user, hash=key_hash(key), expires_at=timezone.now() + lifetime
    )
    return f"/sign-in/{key}/"


def sign_in_link_use(*, key: str) -> User:
    """Spend a link.

    Of two requests with the same link one gets in.

    Returns:
        The user to sign in.

    Raises:
        LinkSpent: If there is no such link, or it was used, or its time is over.
    """
    # One UPDATE decides; a read before it would let two through.
    if not _open_links(key).update(used_at=timezone.now()):
        raise LinkSpent("this link was used before, or its time is over")
    return User.objects.get(sign_in_links__hash=key_hash(key))


def _open_links(key: str) -> QuerySet[SignInLink]:
    return SignInLink.objects.filter(
        hash=key_hash(key),
        used_at=None,
        expires_at__gt=timezone.now(),
        user__is_active=True,
    )
