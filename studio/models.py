"""How people and programs get in: API tokens, and links that sign in once."""

from django.conf import settings
from django.db import models
from django.utils import timezone


class ApiToken(models.Model):
    """A key that a program shows in the user's stead; kept only as its hash."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens"
    )
    name = models.CharField(max_length=100)
    """What it is for, in its owner's words."""
    hash = models.CharField(max_length=64, unique=True)
    """SHA-256 of the key, hexadecimal. The key is random enough to need no salt."""
    prefix = models.CharField(max_length=12)
    """The key's first characters, to tell one from another in a list."""
    created_at = models.DateTimeField(default=timezone.now)
    last_used_at = models.DateTimeField(null=True, blank=True)
    """To the minute."""
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return self.name


class SignInLink(models.Model):
    """A link that signs its user in, once and soon."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="sign_in_links"
    )
    hash = models.CharField(max_length=64, unique=True)
    """SHA-256 of the link's last part, hexadecimal."""
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"sign-in link of {self.user}"
