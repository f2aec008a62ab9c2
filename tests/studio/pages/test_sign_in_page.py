import re
from io import StringIO

import pytest
from django.contrib.auth import get_user
from django.core.management import call_command

pytestmark = pytest.mark.django_db


def test_name_and_password_sign_in_and_lead_back(client, alice):
    response = client.post(
        "/sign-in/?next=/runs/",
        {"username": "alice", "password": "secret", "next": "/runs/"},
    )

    assert response.url == "/runs/"
    assert get_user(client) == alice


def test_a_wrong_password_is_told_without_saying_which_part_is_wrong(client, alice):
    response = client.post("/sign-in/", {"username": "alice", "password": "guess"})

    assert "do not belong together" in response.content.decode()
    assert not get_user(client).is_authenticated


def test_nobody_is_led_to_another_site(client, alice):
    response = client.post(
        "/sign-in/",
        {"username": "alice", "password": "secret", "next": "https://evil.example/"},
    )

    assert response.url == "/"


def test_the_page_explains_the_one_time_link(client):
    page = client.get("/sign-in/").content.decode()

    assert "works once and needs no password" in page


def test_a_spent_link_is_explained_on_the_page(client):
    page = client.get("/sign-in/spent/", follow=True).content.decode()

    assert "Not signed in: this link was used before" in page


def test_the_command_that_the_page_names_prints_a_link_that_signs_in(client, db):
    page = client.get("/sign-in/").content.decode()
    printed = StringIO()
    call_command("sign_in_link", address="http://testserver", stdout=printed)

    response = client.get(printed.getvalue().strip().removeprefix("http://testserver"))

    assert "./oche manage sign_in_link --address http://testserver" in page
    assert response.url == "/"
    assert get_user(client).is_superuser


def test_signing_out_is_a_deed_and_ends_the_session(client, alice):
    client.force_login(alice)

    assert client.get("/sign-out/").status_code == 405
    client.post("/sign-out/")

    assert not get_user(client).is_authenticated


def test_an_address_with_nothing_behind_it_answers_in_the_look(client):
    response = client.get("/no/such/page/")

    assert response.status_code == 404
    assert "There is nothing at this address" in response.content.decode()


@pytest.mark.parametrize("address", ["/", "/runs/", "/runs/new/", "/settings/tokens/"])
def test_no_page_has_inline_style_or_script(client, alice, address):
    client.force_login(alice)

    page = client.get(address).content.decode()

    assert " style=" not in page
    assert "<style" not in page
    assert not re.search(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)", page)
    assert not re.search(r"\son[a-z]+=", page)
