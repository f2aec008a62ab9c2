"""Who may open a WebSocket: pages of this studio, and programs that are no browsers."""

from typing import Any
from urllib.parse import ParseResult

from channels.security.websocket import OriginValidator
from django.conf import settings


class OwnPagesOnly(OriginValidator):
    """Turns away browsers on other hosts' pages, who would bring the user's cookie."""

    def __init__(self, application: Any) -> None:
        super().__init__(application, settings.ALLOWED_HOSTS)

    def valid_origin(self, parsed_origin: ParseResult | None) -> bool:
        """Return whether to let it in; what names no origin is no browser."""
        return parsed_origin is None or bool(super().valid_origin(parsed_origin))
