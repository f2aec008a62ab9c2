import pytest
from rest_framework.test import APIClient

from studio.models import ApiToken
from studio.tokens import token_create

TOKENS = "/api/v1/tokens/"


@pytest.fixture
def keyed(alice):
    """Return a client that shows a token of alice's."""
    _, key = token_create(owner=alice, name="laptop")
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {key}")
    return client


def test_a_token_is_shown_once_and_opens_the_api(api):
    created = api.post(TOKENS, {"name": "laptop"})

    assert created.status_code == 201
    key = created.data["key"]
    (listed,) = api.get(TOKENS).data["results"]
    assert "key" not in listed
    assert key.startswith(listed["prefix"])
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {key}")
    assert client.get("/api/v1/me/").data["username"] == "alice"


def test_a_revoked_token_opens_nothing(api, keyed):
    token = ApiToken.objects.get()

    response = api.delete(f"{TOKENS}{token.pk}/")

    assert response.status_code == 204
    assert keyed.get("/api/v1/me/").status_code == 401
    assert api.delete(f"{TOKENS}{token.pk}/").status_code == 404


@pytest.mark.parametrize(
    "header", ["Bearer oche_wrong", "Bearer", "Bearer a b", "Bearer \xff"]
)
def test_a_wrong_token_is_401_and_says_how_to_sign_in(db, header):
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=header)

    response = client.get("/api/v1/runs/")

    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"
    assert response.data["code"] == "authentication_failed"


def test_a_wrong_token_is_401_though_the_browser_is_signed_in(alice):
    client = APIClient()
    client.force_login(alice)
    client.credentials(HTTP_AUTHORIZATION="Bearer oche_wrong")

    assert client.get("/api/v1/runs/").status_code == 401


def test_a_session_writes_only_with_its_csrf_token(alice):
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(alice)

    assert client.get("/api/v1/me/").status_code == 200
    assert client.post(TOKENS, {"name": "x"}).status_code == 403


def test_a_token_needs_no_csrf(alice):
    _, key = token_create(owner=alice, name="laptop")
    client = APIClient(enforce_csrf_checks=True)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {key}")

    assert client.post(TOKENS, {"name": "x"}).status_code == 201


def test_a_token_needs_a_name(api):
    assert list(api.post(TOKENS, {}).data["errors"]) == ["name"]
