"""Where this studio keeps its files."""

from pathlib import Path

from django.conf import settings

from studio.common.storage import Storage


def storage() -> Storage:
    """Return the layout below the configured media root."""
    return Storage(Path(settings.MEDIA_ROOT))
