"""Middleware: static files without a build step, and the headers that lock pages in."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile

CONTENT_SECURITY_POLICY = "; ".join(
    [
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob: data:",
        "connect-src 'self' ws: wss:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ]
)
"""No inline script or style, nothing from another host."""

GetResponse = Callable[[HttpRequest], HttpResponse]


def secure_headers(get_response: GetResponse) -> GetResponse:
    """Add to every answer what a browser must not do with it."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        response.headers.setdefault("X-Content-Type-Options", "nosniff")
        response.headers.setdefault("Permissions-Policy", "camera=(), microphone=()")
        return response

    return middleware


class StaticFilesMiddleware(WhiteNoiseMiddleware):
    """Serve static files from where they lie."""

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        """Answer with the whole file.

        WhiteNoise streams from a blocking iterator, about which Django complains under
        ASGI before it reads it whole; the largest file here has five megabytes.
        """
        answer = static_file.get_response(request.method, request.META)
        body = b""
        if answer.file is not None:
            with answer.file as file:
                body = file.read()
        response = HttpResponse(body, status=int(answer.status))
        del response.headers["Content-Type"]
        for key, value in answer.headers:
            response.headers[key] = value
        if answer.file is not None:
            # The header is of the file as it was when the studio started.
            response.headers["Content-Length"] = str(len(body))
        return response
