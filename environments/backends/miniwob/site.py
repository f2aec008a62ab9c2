"""A web server on this machine for the pages: MiniWoB's own, untouched, and ours."""

import threading
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from environments.errors import StartFault

OUR_PAGES: Final = Path(__file__).parent / "pages"


def package_pages() -> Path:
    """Return the folder of pages that the ``miniwob`` package brings.

    Raises:
        StartFault: If the package is not installed.
    """
    # Not imported: its environments need gymnasium and selenium, which we do without.
    spec = find_spec("miniwob")
    if spec is None or not spec.submodule_search_locations:
        raise StartFault("the pages of MiniWoB++ are missing: pip install miniwob")
    return Path(spec.submodule_search_locations[0]) / "html"


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def translate_path(self, path: str) -> str:
        """Find ours first: ``/miniwob/<name>.html`` may be one of our pages."""
        theirs = Path(super().translate_path(path))
        ours = OUR_PAGES / theirs.name
        if theirs.parent.name == "miniwob" and ours.is_file():
            return str(ours)
        return str(theirs)

    def list_directory(self, path: Any) -> BytesIO | None:
        """Show no folders."""
        self.send_error(HTTPStatus.NOT_FOUND)
        return None

    def guess_type(self, path: Any) -> str:
        """Say that text is UTF-8: pages that do not would show other letters."""
        kind = super().guess_type(path)
        return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind

    def end_headers(self) -> None:
        """Let the browser keep scripts and style sheets."""
        self.send_header("Cache-Control", "max-age=3600")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a browser that hung up in the middle of an answer."""


class Site:
    """The server, in a thread of its own on a free port."""

    def __init__(self) -> None:
        handler = partial(_Handler, directory=str(package_pages()))
        self._server = _Server(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="miniwob-site", daemon=True
        )
        self._thread.start()

    def url(self, path: str) -> str:
        """Return the address of a page, given by its path below the site's root."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/{path}"

    def close(self) -> None:
        """Stop serving; may be called twice."""
        self._server.shutdown()
        self._server.server_close()
