"""The studio's ASGI application: HTTP by Django, WebSockets by Channels."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings.base")
django_app = get_asgi_application()  # Fills the app registry; keep before the rest.

from channels.auth import AuthMiddlewareStack  # noqa: E402
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402

from studio.websockets import OwnPagesOnly  # noqa: E402
from training.routing import websocket_urlpatterns  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": django_app,
        "websocket": OwnPagesOnly(
            AuthMiddlewareStack(URLRouter(websocket_urlpatterns))
        ),
    }
)
