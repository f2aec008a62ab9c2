"""Settings of the tests: a folder and a database of their own, no other process."""

import atexit
import os
import shutil
import tempfile

_HOME = tempfile.mkdtemp(prefix="oche-test-")
os.environ["OCHE_HOME"] = _HOME
atexit.register(shutil.rmtree, _HOME, ignore_errors=True)

from studio.settings.base import *  # noqa: E402, F403
from studio.settings.base import DATABASES, OCHE_HOME  # noqa: E402

# A file, not memory: consumers and live servers use it from several threads, and SQLite
# in shared memory ignores the time-out for locks.
DATABASES["default"]["TEST"] = {"NAME": OCHE_HOME / "test.sqlite3"}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
CELERY_BROKER_URL = "memory://"
CELERY_TASK_ALWAYS_EAGER = True
CELERY_TASK_EAGER_PROPAGATES = True
