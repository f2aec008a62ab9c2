from datetime import timedelta

import pytest
from django.utils import timezone
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory
from rest_framework.views import APIView

from studio.models import ApiToken
from studio.tokens import token_create, token_revoke, tokens_of


class WhoAmI(APIView):
    def get(self, request):
        return Response({"user": request.user.username})


def ask(authorization=None):
    headers = {"Authorization": authorization} if authorization else {}
    return WhoAmI.as_view()(APIRequestFactory().get("/", headers=headers))


def test_a_token_speaks_for_its_owner(alice):
    _, key = token_create(owner=alice, name="laptop")

    response = ask(f"Bearer {key}")

    assert response.data == {"user": "alice"}


def test_only_the_hash_of_a_token_is_kept(alice):
    token, key = token_create(owner=alice, name="laptop")

    row = ApiToken.objects.filter(pk=token.pk).values().get()

    assert key.startswith("oche_")
    assert key not in map(str, row.values())
    assert len(row["hash"]) == 64


@pytest.mark.django_db
@pytest.mark.parametrize(
    "authorization", [None, "Bearer oche_wrong", "Bearer", "Bearer a b", "Bearer \xff"]
)
def test_who_shows_no_right_token_gets_401_and_is_told_how(authorization):
    response = ask(authorization)

    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert set(response.data) == {"code", "detail"}


def test_a_revoked_token_opens_nothing(alice):
    token, key = token_create(owner=alice, name="laptop")

    token_revoke(token_id=token.pk, owner=alice)

    assert ask(f"Bearer {key}").status_code == 401
    assert not tokens_of(alice).exists()


def test_nobody_revokes_somebody_elses_token(alice, mallory):
    token, key = token_create(owner=alice, name="laptop")

    with pytest.raises(ApiToken.DoesNotExist):
        token_revoke(token_id=token.pk, owner=mallory)

    assert ask(f"Bearer {key}").status_code == 200


def test_the_token_of_a_locked_out_owner_opens_nothing(alice):
    _, key = token_create(owner=alice, name="laptop")
    alice.is_active = False
    alice.save()

    assert ask(f"Bearer {key}").status_code == 401


def test_use_is_noted_to_the_minute(alice, django_assert_num_queries):
    token, key = token_create(owner=alice, name="laptop")
    ask(f"Bearer {key}")
    token.refresh_from_db()
    assert timezone.now() - token.last_used_at < timedelta(seconds=5)

    with django_assert_num_queries(1):  # The second time within the minute only reads.
        ask(f"Bearer {key}")
