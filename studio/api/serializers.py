"""The JSON of tokens and of the user."""

from typing import Any

from django.contrib.auth.models import User
from rest_framework import serializers

from studio.models import ApiToken


class MeSerializer(serializers.ModelSerializer[User]):
    """Who the request speaks for."""

    class Meta:
        model = User
        fields = ("id", "username", "is_superuser")
        read_only_fields = fields


class TokenSerializer(serializers.ModelSerializer[ApiToken]):
    """A token, without its key."""

    class Meta:
        model = ApiToken
        fields: tuple[str, ...] = ("id", "name", "prefix", "created_at", "last_used_at")
        read_only_fields = fields


class TokenCreateSerializer(serializers.Serializer[Any]):
    """A token, as the API is asked for it."""

    name = serializers.CharField(max_length=100, help_text="What it is for.")


class TokenCreatedSerializer(TokenSerializer):
    """A token with its key, which is never shown again."""

    key = serializers.CharField(read_only=True)

    class Meta(TokenSerializer.Meta):
        fields = (*TokenSerializer.Meta.fields, "key")
        read_only_fields = fields
