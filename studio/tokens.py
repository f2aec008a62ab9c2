"""API tokens: made, shown once, recognised, revoked."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from studio.keys import TOKEN_MARK, key_hash, new_key
from studio.models import ApiToken

LAST_USED_PRECISION = timedelta(minutes=1)


def tokens_of(user: User) -> QuerySet[ApiToken]:
    """Return the user's tokens that still open something, newest first."""
    return ApiToken.objects.filter(owner=user, revoked_at=None)


def token_create(*, owner: User, name: str) -> tuple[ApiToken, str]:
    """Make a token.

    Returns:
        The row, and the key itself, which is never to be had again.
    """
    key = new_key(TOKEN_MARK)
    token = ApiToken(owner=owner, name=name, hash=key_hash(key), prefix=key[:9])
    token.full_clean()
    token.save()
    return token, key


def token_revoke(*, token_id: int, owner: User) -> ApiToken:
    """Make a token open nothing from now on.

    Raises:
        ApiToken.DoesNotExist: If the user has no such token, or it is revoked already.
    """
    token = tokens_of(owner).get(pk=token_id)
    token.revoked_at = timezone.now()
    token.save(update_fields=["revoked_at"])
    return token


class TokenAuthentication(BaseAuthentication):
    """``Authorization: Bearer oche_…``."""

    keyword = "Bearer"

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Return whom the token speaks for; nothing when no token is shown.

        Raises:
            AuthenticationFailed: If it is unknown, revoked, or its owner locked out.
        """
        words = get_authorization_header(request).split()
        if not words or words[0].lower() != self.keyword.lower().encode():
            return None
        if len(words) != 2:
            raise AuthenticationFailed("expected: Authorization: Bearer oche_…")
        key = words[1].decode("ascii", errors="replace")
        return self._known(key)

    def _known(self, key: str) -> tuple[User, ApiToken]:
        token = (
            ApiToken.objects.select_related("owner")
            .filter(hash=key_hash(key), revoked_at=None, owner__is_active=True)
            .first()
        )
        if token is None:
            raise AuthenticationFailed("this token is unknown or was revoked")
        self._note_use(token)
        return token.owner, token

    def _note_use(self, token: ApiToken) -> None:
        """Write the time down, once a minute at most: reads need not become writes."""
        now = timezone.now()
        if token.last_used_at and now - token.last_used_at < LAST_USED_PRECISION:
            return
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)

    def authenticate_header(self, request: Request) -> str:
        """Return what an answer 401 says about how to sign in."""
        return self.keyword
