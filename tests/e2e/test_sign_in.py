import shlex

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import Visitor, keep_picture
from tests.e2e.studio import Studio

pytestmark = pytest.mark.e2e


def test_the_link_that_the_studio_prints_signs_in_once(
    studio: Studio, stranger: Visitor
):
    path = studio.sign_in_link.removeprefix(studio.address)

    page = stranger.open(path)

    expect(page).to_have_url(f"{studio.address}/")
    expect(page.locator(".nav-user")).to_contain_text("admin")

    # Whoever reads the terminal later has no use for it.
    stranger.context.clear_cookies()
    page = stranger.open(path)

    expect(page).to_have_url(f"{studio.address}/sign-in/")
    expect(page.get_by_role("alert")).to_contain_text(
        "Not signed in: this link was used before, or its time is over."
    )
    keep_picture(page, "sign-in-refused")


def test_the_page_tells_a_command_that_gives_another_link(
    studio: Studio, stranger: Visitor
):
    told = stranger.open("/sign-in/").locator(".answer").inner_text()
    launcher, verb, *command = shlex.split(told)
    assert (launcher, verb) == ("./oche", "manage")

    link = studio.manage(*command).strip()

    page = stranger.open(link.removeprefix(studio.address))
    expect(page).to_have_url(f"{studio.address}/")
    expect(page.locator(".nav-user")).to_contain_text("admin")


def test_who_is_not_signed_in_is_led_to_the_form_and_comes_back_by_it(
    studio: Studio, stranger: Visitor
):
    studio.manage(
        "shell",
        "--no-imports",
        "-c",
        "from django.contrib.auth.models import User; "
        "User.objects.create_user('bob', password='a dart in the bull')",
    )

    page = stranger.open("/datasets/")
    page.get_by_label("Name").fill("bob")
    page.get_by_label("Password").fill("a dart in the wire")
    page.get_by_role("button", name="Sign in").click()

    expect(page.get_by_role("alert")).to_contain_text("That did not fit.")

    page.get_by_label("Password").fill("a dart in the bull")
    page.get_by_role("button", name="Sign in").click()

    expect(page).to_have_url(f"{studio.address}/datasets/")
    expect(page.locator(".nav-user")).to_contain_text("bob")
