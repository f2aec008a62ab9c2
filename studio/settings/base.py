"""Settings of every process of the studio; what may differ is read from ``OCHE_…``."""

from pathlib import Path

import plotly

from studio.common.redis import broker_url, embedded_url
from studio.settings import env
from studio.settings.database import postgresql, sqlite
from studio.settings.secret import secret_from

BASE_DIR = env.REPOSITORY

# -- Where things are ---------------------------------------------------------------

OCHE_HOME = env.path("OCHE_HOME", BASE_DIR / "var")
"""Everything that this studio keeps: database, Redis, logs, media."""
OCHE_HOME.mkdir(parents=True, exist_ok=True)
MEDIA_ROOT = OCHE_HOME / "media"
BUNDLED_POLICIES = BASE_DIR / "agents" / "bundled"

REDIS_URL = env.url(
    "OCHE_REDIS_URL", schemes=("redis", "rediss", "unix")
) or embedded_url(OCHE_HOME)
IS_REDIS_EMBEDDED = embedded_url(OCHE_HOME) == REDIS_URL

DATABASE_URL = env.url("OCHE_DATABASE_URL", schemes=("postgresql", "postgres"))
DATABASES = {
    "default": (
        postgresql(DATABASE_URL) if DATABASE_URL else sqlite(OCHE_HOME / "db.sqlite3")
    )
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

READY_FILE = (
    env.path("OCHE_READY_FILE", OCHE_HOME) if env.text("OCHE_READY_FILE", "") else None
)
"""Where a worker says that it takes tasks; the supervisor names the file."""

IS_SUPERVISED = bool(env.text("OCHE_SUPERVISED", ""))
"""Whether somebody starts this process again when it ends."""

# -- Secrets ------------------------------------------------------------------------

SECRET_KEY = env.text("OCHE_SECRET_KEY", "") or secret_from(OCHE_HOME / "secret.key")
INFERENCE_SECRET = env.text("OCHE_INFERENCE_SECRET", "") or secret_from(
    OCHE_HOME / "inference.key"
)
"""What an inference worker and its callers know of each other."""

# -- How much -----------------------------------------------------------------------

NUM_SLOTS = env.integer("OCHE_SLOTS", 8, low=1, high=256)
"""Episodes that one environment worker plays at a time."""
NUM_TRAINER_THREADS = env.integer("OCHE_TRAINER_THREADS", 1, low=1, high=256)
NUM_INFERENCE_THREADS = env.integer("OCHE_INFERENCE_THREADS", 1, low=1, high=256)

# -- Django -------------------------------------------------------------------------

DEBUG = env.flag("OCHE_DEBUG", default=False)
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", *env.words("OCHE_ALLOWED_HOSTS")]
CSRF_TRUSTED_ORIGINS = env.words("OCHE_TRUSTED_ORIGINS")
ROOT_URLCONF = "studio.urls"
ASGI_APPLICATION = "studio.asgi.application"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "channels",
    "environments",
    "agents",
    "training",
    "studio",
]

MIDDLEWARE = [
    "studio.middleware.secure_headers",
    "studio.middleware.StaticFilesMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
    )
]
LOGIN_URL = "/sign-in/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/sign-in/"
SESSION_COOKIE_AGE = 30 * 24 * 3600
# Two studios on one machine differ by port only, which cookies do not see.
SESSION_COOKIE_NAME = env.text("OCHE_SESSION_COOKIE", "oche_session")
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.flag("OCHE_HTTPS", default=False)
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

STATIC_URL = "/static/"
STATICFILES_DIRS = [
    BASE_DIR / "static",
    # The page's plotly.js is the one that the Python package draws for.
    ("vendor/plotly", Path(plotly.__file__).parent / "package_data"),
]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG
# The browser asks each time whether its copy is still right, and mostly hears yes.
WHITENOISE_MAX_AGE = 0

DATA_UPLOAD_MAX_MEMORY_SIZE = 10 * 1024**2
FILE_UPLOAD_TEMP_DIR = OCHE_HOME / "uploads"
FILE_UPLOAD_TEMP_DIR.mkdir(exist_ok=True)
MAX_UPLOAD_BYTES = env.integer("OCHE_MAX_UPLOAD_MB", 2048, low=1, high=10**6) * 1024**2

# -- Celery and Channels ------------------------------------------------------------

CELERY_BROKER_URL = broker_url(REDIS_URL)
# Two studios may share one Redis server by its numbered databases, not by queue names.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    # A message whose worker died is delivered again after this; a task that is still
    # being worked on then does nothing the second time, since it finds its row claimed.
    "visibility_timeout": 60,
    "socket_keepalive": True,
    "health_check_interval": 10,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_DEFAULT_QUEUE = "manager"
CELERY_TASK_ROUTES = {
    "rollouts.*": {"queue": "rollouts"},
    "training.train_*": {"queue": "training"},
}
CELERY_BEAT_SCHEDULE = {
    "advance all runs": {
        "task": "training.advance_all",
        "schedule": 1.0,
        # Seconds; a manager that was away does not have to catch up.
        "options": {"expires": 5},
    },
    "begin lost imports again": {
        "task": "training.import_left",
        "schedule": 60.0,
        "options": {"expires": 30},
    },
}

CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        "CONFIG": {
            # The layer waits five seconds at a time for a message, which is redis-py's
            # own time-out too: without a longer one every quiet socket would break.
            "hosts": [{"address": REDIS_URL, "socket_timeout": 15}],
            "capacity": 500,
            "expiry": 30,
        },
    }
}

# -- REST ---------------------------------------------------------------------------

REST_FRAMEWORK = {
    # The first of them answers 401 and says how to sign in.
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "studio.tokens.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_PARSER_CLASSES": [
        "studio.common.parsers.StrictJSONParser",
        "rest_framework.parsers.FormParser",
        "rest_framework.parsers.MultiPartParser",
    ],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PAGINATION_CLASS": "studio.common.pagination.Pages",
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "studio.errors.exception_handler",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Oche",
    "DESCRIPTION": "A studio in which people train agents that work by the screen.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "studio.api.schema.add_errors",
    ],
    "ENUM_NAME_OVERRIDES": {
        "RunStatus": "training.states.RunStatus.choices",
        "TrajectoryStatus": "training.states.TrajectoryStatus.choices",
        "GroupStatus": "training.states.GroupStatus.choices",
        "DropReason": "training.states.DropReason.choices",
        "CheckpointStatus": "training.states.CheckpointStatus.choices",
        "DatasetStatus": "training.states.DatasetStatus.choices",
        "EvaluationStatus": "training.states.EvaluationStatus.choices",
    },
    # No page of ours needs the internet.
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}

# -- Logs ---------------------------------------------------------------------------

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"events": {"()": "studio.common.logs.EventFormatter"}},
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": "events"},
    },
    "root": {
        "handlers": ["stderr"],
        "level": env.text("OCHE_LOG_LEVEL", "INFO").upper(),
    },
    "loggers": {
        # One line per task and request would bury the events.
        "celery": {"level": "WARNING"},
        "kombu": {"level": "WARNING"},
        "uvicorn.access": {"level": "WARNING"},
        "httpx": {"level": "WARNING"},
        "PIL": {"level": "WARNING"},
    },
}
