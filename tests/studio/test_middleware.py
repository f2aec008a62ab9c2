import pytest

pytestmark = pytest.mark.django_db


def test_no_page_may_run_what_does_not_come_from_here(client):
    headers = client.get("/healthz").headers

    assert "script-src 'self';" in headers["Content-Security-Policy"]
    assert "unsafe-inline" not in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "DENY"


def test_the_plotting_library_comes_from_the_python_package(client):
    response = client.get("/static/vendor/plotly/plotly.min.js")

    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("text/javascript")
    assert b"plotly.js v" in response.content[:200]


def test_a_static_file_that_has_not_changed_is_not_sent_again(client):
    url = "/static/vendor/plotly/plotly.min.js"
    first = client.get(url)

    again = client.get(
        url, headers={"If-Modified-Since": first.headers["Last-Modified"]}
    )

    assert (again.status_code, again.content) == (304, b"")
