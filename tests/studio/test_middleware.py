from pathlib import Path

import pytest
from whitenoise.responders import StaticFile

from studio.middleware import StaticFilesMiddleware

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


def test_a_static_file_that_has_changed_since_the_start_is_sent_whole(
    tmp_path: Path, rf
):
    file = tmp_path / "run.js"
    file.write_text("short")
    known = StaticFile(str(file), [("Content-Type", "text/javascript")])
    file.write_text("a little longer")

    response = StaticFilesMiddleware.serve(known, rf.get("/static/run.js"))

    assert response.content == b"a little longer"
    assert response.headers["Content-Length"] == "15"
