"""The studio's ASGI application: HTTP by Django, WebSockets by Channels."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings.base")
django_app = get_asgi_application()  # Fills the app registry; keep before the rest.

from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from django.conf import settings  # noqa: E402

from studio.common.bodies import BodyLimit  # noqa: E402
from studio.websockets import OwnPagesOnly  # noqa: E402
from training.routing import websocket_urlpatterns  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": BodyLimit(
            django_app,
            max_upload_bytes=settings.MAX_UPLOAD_BYTES,
            max_bytes=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
        ),
        "websocket": OwnPagesOnly(
            AuthMiddlewareStack(URLRouter(websocket_urlpatterns))
        ),
    }
)
