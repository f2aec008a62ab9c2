import json
import re
from io import StringIO

import pytest
from django.contrib.staticfiles import finders
from django.core.management import call_command
from django.test import Client


@pytest.fixture
def signed_in(alice) -> Client:
    client = Client()
    client.force_login(alice)
    return client


def test_the_schema_is_valid_and_nothing_in_it_is_guessed():
    out = StringIO()

    call_command("spectacular", validate=True, fail_on_warn=True, stdout=out)

    assert "/api/v1/runs/{id}/metrics/" in out.getvalue()


def test_the_schema_says_how_to_sign_in_and_what_errors_look_like(signed_in):
    schema = json.loads(signed_in.get("/api/schema/?format=json").content)

    assert schema["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    stop = schema["paths"]["/api/v1/runs/{id}/stop/"]["post"]
    assert {"200", "401", "404", "409"} <= set(stop["responses"])
    content = stop["responses"]["409"]["content"]["application/json"]
    assert content["schema"] == {"$ref": "#/components/schemas/Error"}


def test_the_docs_load_everything_from_this_server(signed_in):
    response = signed_in.get("/api/docs/")
    page = response.content.decode()

    assets = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert assets
    assert all(asset.startswith("/") for asset in assets)
    static = [asset for asset in assets if asset.startswith("/static/")]
    assert len(static) >= 3
    assert all(finders.find(asset.removeprefix("/static/")) for asset in static)


def test_the_docs_run_no_inline_script_but_may_have_their_style(signed_in):
    response = signed_in.get("/api/docs/")

    policy = response["Content-Security-Policy"]
    assert "script-src 'self';" in policy
    assert "style-src 'self' 'unsafe-inline'" in policy
    assert not re.search(r"<script(?![^>]*\bsrc=)", response.content.decode())


def test_other_pages_keep_the_strict_policy(signed_in):
    policy = signed_in.get("/api/v1/me/")["Content-Security-Policy"]

    assert "unsafe-inline" not in policy


def test_the_script_of_the_docs_is_a_script(signed_in):
    page = signed_in.get("/api/docs/").content.decode()
    (address,) = re.findall(r'src="(/api/docs/[^"]*)"', page)

    response = signed_in.get(address)

    assert response["Content-Type"].startswith("application/javascript")
    assert b"SwaggerUIBundle" in response.content


def test_a_visitor_is_sent_to_sign_in_from_the_docs(db):
    response = Client().get("/api/docs/")

    assert response.status_code == 302
    assert response["Location"].startswith("/sign-in/")
