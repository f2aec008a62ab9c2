from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from studio.accounts import (
    administrator_ensure,
    sign_in_link_create,
    sign_in_link_use,
)
from studio.errors import LinkSpent
from studio.models import SignInLink


def signed_in(client):
    return "_auth_user_id" in client.session


def test_a_link_signs_its_user_in(alice, client):
    link = sign_in_link_create(user=alice)

    response = client.get(link)

    assert (response.status_code, response.url) == (302, "/")
    assert client.session["_auth_user_id"] == str(alice.pk)


def test_a_link_works_once(alice, client):
    link = sign_in_link_create(user=alice)
    client.get(link)
    client.logout()

    response = client.get(link)

    assert response.url == "/sign-in/"
    assert not signed_in(client)


def test_a_link_dies_of_age(alice, client):
    link = sign_in_link_create(user=alice, lifetime=timedelta(seconds=-1))

    client.get(link)

    assert not signed_in(client)


@pytest.mark.django_db
def test_a_made_up_link_signs_nobody_in(client):
    client.get("/sign-in/made-up/")

    assert not signed_in(client)


def test_a_locked_out_user_is_not_let_in_by_link(alice):
    key = sign_in_link_create(user=alice).split("/")[2]
    User.objects.update(is_active=False)

    with pytest.raises(LinkSpent):
        sign_in_link_use(key=key)


def test_only_the_hash_of_a_link_is_kept(alice):
    key = sign_in_link_create(user=alice).split("/")[2]

    assert SignInLink.objects.get().hash not in ("", key)


@pytest.mark.django_db
def test_the_first_administrator_is_made_once_without_a_password():
    first = administrator_ensure()
    second = administrator_ensure()

    assert first == second
    assert (first.username, first.is_superuser) == ("admin", True)
    assert not first.has_usable_password()


@pytest.mark.django_db
def test_a_plain_user_called_admin_is_not_promoted():
    User.objects.create_user("admin")

    made = administrator_ensure()

    assert made.username.startswith("admin-")
    assert not User.objects.get(username="admin").is_superuser


def test_the_command_line_gives_another_link(alice, client, capsys):
    call_command("sign_in_link", "alice")

    client.get(capsys.readouterr().out.strip())

    assert client.session["_auth_user_id"] == str(alice.pk)


@pytest.mark.django_db
def test_the_command_line_names_the_user_that_it_does_not_find():
    with pytest.raises(CommandError, match="no user 'bob'"):
        call_command("sign_in_link", "bob")
