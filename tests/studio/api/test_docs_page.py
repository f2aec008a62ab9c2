import pytest
from playwright.sync_api import sync_playwright

from environments.browser.chromium import find_chromium


@pytest.fixture
def page(live_server, client, alice):
    """A page of a real browser that alice is signed in to; its complaints are noted."""
    client.force_login(alice)
    (cookie,) = client.cookies.values()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(find_chromium()), args=["--no-sandbox"]
        )
        context = browser.new_context()
        context.add_cookies(
            [{"name": cookie.key, "value": cookie.value, "url": live_server.url}]
        )
        page = context.new_page()
        page.complaints = []
        page.on(
            "console",
            lambda told: (
                page.complaints.append(told.text) if told.type == "error" else None
            ),
        )
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        yield page
        browser.close()


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_docs_work_in_a_browser_without_the_internet(page, live_server):
    asked = []
    page.on("request", lambda request: asked.append(request.url))

    page.goto(f"{live_server.url}/api/docs/")
    page.wait_for_selector("text=/api/v1/runs/{id}/metrics/", timeout=30_000)

    assert all(url.startswith((live_server.url, "data:", "blob:")) for url in asked)
    assert page.complaints == []
