import re

import pytest
from django.urls import reverse

from studio.models import ApiToken
from studio.tokens import token_create

pytestmark = pytest.mark.django_db

ADDRESS = "/settings/tokens/"


@pytest.fixture
def signed_in(client, alice):
    client.force_login(alice)
    return client


def text_of(response):
    return re.sub(r"\s+", " ", response.content.decode())


def test_a_key_is_shown_once_and_then_never_again(signed_in):
    made = signed_in.post(ADDRESS, {"name": "robot"})
    later = signed_in.get(ADDRESS)

    key = made.context["key"]
    assert key.startswith("oche_")
    assert key in text_of(made)
    assert made["Cache-Control"].startswith("max-age=0, no-cache, no-store")
    assert "robot" in text_of(later)
    assert key not in text_of(later)


def test_a_token_needs_a_name(signed_in):
    response = signed_in.post(ADDRESS, {"name": " "})

    assert "Say what the token is for" in text_of(response)
    assert not ApiToken.objects.exists()


def test_a_revoked_token_leaves_the_list(signed_in, alice):
    token, _ = token_create(owner=alice, name="robot")

    signed_in.post(reverse("pages:token-revoke", args=[token.pk]))

    token.refresh_from_db()
    assert token.revoked_at is not None
    assert "No token yet" in text_of(signed_in.get(ADDRESS))


def test_a_stranger_neither_sees_nor_revokes_a_token(client, mallory, alice):
    token, _ = token_create(owner=alice, name="robot")
    client.force_login(mallory)

    response = client.post(reverse("pages:token-revoke", args=[token.pk]))

    token.refresh_from_db()
    assert response.status_code == 404
    assert token.revoked_at is None
    assert "robot" not in text_of(client.get(ADDRESS))


def test_a_visitor_is_led_to_the_sign_in_page(client):
    assert client.get(ADDRESS).url == f"/sign-in/?next={ADDRESS}"
