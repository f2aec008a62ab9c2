import io

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient


def made(**options) -> str:
    out = io.StringIO()
    call_command("token", stdout=out, **options)
    return out.getvalue().strip()


def who(key: str) -> str:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {key}")
    return client.get("/api/v1/me/").data["username"]


def test_the_command_prints_a_key_that_speaks_for_the_user(alice):
    assert who(made(user="alice")) == "alice"


def test_without_a_name_it_speaks_for_the_administrator_who_is_made_if_need_be(db):
    assert who(made()) == "admin"
    assert User.objects.count() == 1


def test_an_unknown_user_is_named(db):
    with pytest.raises(CommandError, match="'nobody'"):
        made(user="nobody")
