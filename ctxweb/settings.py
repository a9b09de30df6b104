"""Django settings, all from the environment; every variable is in docs/settings.md."""

from __future__ import annotations

import datetime as dt
import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
from csp.constants import NONCE, NONE, SELF

import ctxweb
from ctxweb.cores import request_processes
from ctxweb.env import SettingError, data_dir, env_bool, env_int, env_str, env_url, env_word, models_path
from ctxweb.privacy import keep_private
from sessions.adapters.own_models import use_models_in
from sessions.engine.base.errors import BadParameter

PACKAGE = Path(ctxweb.__file__).resolve().parent
BUNDLED = PACKAGE / "_bundled"
ROOT = BUNDLED if BUNDLED.is_dir() else PACKAGE.parent
DATA = data_dir()


def _folder(*parts: str) -> Path:
    path = DATA.joinpath(*parts)
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def _secret_key() -> str:
    """The key from the environment, else the data directory's: of processes that start together the first makes it."""
    given = env_str("CTXWEB_SECRET_KEY")
    if given:
        return given
    path = DATA / "secret_key"
    if not path.exists():
        draft = DATA / f"secret_key.{os.getpid()}"
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(50), encoding="utf-8")
        try:
            path.hardlink_to(draft)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text(encoding="utf-8")


def _names(variable: str, default: str = "") -> list[str]:
    return [name.strip() for name in env_str(variable, default).split(",") if name.strip()]


def _database() -> dict[str, Any]:
    """``DATABASE_URL``, else SQLite here; by WAL readers go on, by IMMEDIATE writers wait (estimators 16)."""
    url = env_str("DATABASE_URL") or f"sqlite:///{DATA / 'ctxweb.sqlite3'}"
    # Connections are kept for a minute; a broken one is noticed before it is used.
    try:
        config: dict[str, Any] = dict(dj_database_url.parse(url, conn_max_age=60, conn_health_checks=True))
    except ValueError:
        raise SettingError(
            "DATABASE_URL cannot be read. Use postgres://user:password@host:5432/name or sqlite:////path/to/file."
        ) from None
    if config["ENGINE"] == "django.db.backends.sqlite3":
        config["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
            **config.get("OPTIONS", {}),
        }
    return config


def _blobs() -> dict[str, Any]:
    """Where uploads and images are kept: the data directory, or an S3 bucket (extra ``s3``)."""
    bucket = env_str("CTXWEB_S3_BUCKET")
    if not bucket:
        return {"BACKEND": "django.core.files.storage.FileSystemStorage"}
    options = {"bucket_name": bucket, "endpoint_url": env_str("CTXWEB_S3_ENDPOINT") or None, "querystring_auth": True}
    return {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options}


SECRET_KEY = _secret_key()
DEBUG = env_bool("CTXWEB_DEBUG")
# Strict on loopback too: a page elsewhere may point its own host name at 127.0.0.1 (DNS rebinding).
ALLOWED_HOSTS = _names("CTXWEB_ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
CSRF_TRUSTED_ORIGINS = _names("CTXWEB_TRUSTED_ORIGINS")
# The address under which others reach this server: links begin with it, its name is let in, its path is the site's.
PUBLIC_URL = env_url("CTXWEB_PUBLIC_URL")
FORCE_SCRIPT_NAME = urlsplit(PUBLIC_URL).path.rstrip("/") or None
if PUBLIC_URL:
    _public = urlsplit(PUBLIC_URL)
    ALLOWED_HOSTS.append(f"[{_public.hostname}]" if ":" in str(_public.hostname) else str(_public.hostname))
    CSRF_TRUSTED_ORIGINS.append(f"{_public.scheme}://{_public.netloc}")
REQUIRE_LOGIN = env_bool("CTXWEB_REQUIRE_LOGIN")
# Whether the library offers the sessions of this computer: only where nobody else reaches it.
FINDS_SESSIONS = not (REQUIRE_LOGIN or PUBLIC_URL or env_bool("CTXWEB_UNSAFE"))
PROXIES = env_int("CTXWEB_PROXIES", 0)  # how many of our own stand in front: X-Forwarded-For is believed so far

INSTALLED_APPS = [
    "ctxweb.apps.CtxwebConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "csp",
    "axes",
    "sessions.apps.SessionsConfig",
]

MIDDLEWARE = [
    "ctxweb.middleware.request_id",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "ctxweb.middleware.packed",
    "csp.middleware.CSPMiddleware",
    "ctxweb.middleware.body_limit",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "ctxweb.middleware.login_wall",
    "ctxweb.middleware.eyes",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "ctxweb.middleware.upload_gate",
    "ctxweb.signin.known_browsers",
    "axes.middleware.AxesMiddleware",
    "ctxweb.fault_pages.faults",
]

ROOT_URLCONF = "ctxweb.urls"
WSGI_APPLICATION = "ctxweb.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "ctxweb.context_processors.csp_nonce",
                "ctxweb.context_processors.uploads",
                "ctxweb.context_processors.people",
            ],
        },
    },
]

DATABASES = {"default": _database()}
IS_SQLITE = DATABASES["default"]["ENGINE"].endswith("sqlite3")
keep_private(DATA, str(DATABASES["default"]["NAME"]) if IS_SQLITE else "")

# Accounts, where they are wanted.
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "sessions:library"
LOGOUT_REDIRECT_URL = "login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
# Wrong passwords close doors for a quarter of an hour; which ones: ctxweb.signin.
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = dt.timedelta(minutes=15)
AXES_HANDLER = "ctxweb.signin.Doors"
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address", "user_agent"]]  # what a success forgets
AXES_LOCKOUT_CALLABLE = "ctxweb.signin.too_many_attempts"
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = AXES_VERBOSE = False
# Names of our own: cookies do not know ports, and 127.0.0.1 is shared with every other local application.
SESSION_COOKIE_NAME = "ctxweb_session"
CSRF_COOKIE_NAME = "ctxweb_csrf"
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"

# Headers.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        "img-src": [SELF, "data:", "blob:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    },
}
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
if env_bool("CTXWEB_HTTPS"):
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
    SECURE_HSTS_SECONDS = 365 * 24 * 3600
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

TIME_ZONE = "UTC"
USE_I18N = False

# Static files: `ctxweb serve` collects them into the data directory, compressed and under hashed names
# (docs/decisions/0003); with CTXWEB_DEBUG they are served as they lie in the source.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]

# A proxy takes the path of PUBLIC_URL off: pages name it, requests come without.
STATIC_URL = f"{FORCE_SCRIPT_NAME or ''}/static/"
STATICFILES_DIRS = [ROOT / "static"]
DOCS = BUNDLED / "docs" if BUNDLED.is_dir() else ROOT / "build/docs"
MANUAL = BUNDLED / "manual" if BUNDLED.is_dir() else ROOT / "docs"
STATIC_ROOT = _folder("static")
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = DEBUG
STORAGES = {
    "default": _blobs(),
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage" if DEBUG else "ctxweb.storage.StaticStorage"
    },
}

# Uploads: always spooled to disk, beside the place where they will stay, so that no upload is held in memory.
MEDIA_ROOT = _folder("blobs")
FILE_UPLOAD_TEMP_DIR = _folder("tmp")
FILE_UPLOAD_HANDLERS = ["ctxweb.storage.NamelessFileHandler"]
FILE_UPLOAD_PERMISSIONS = 0o600
MAX_UPLOAD_BYTES = env_int("CTXWEB_MAX_UPLOAD_MB", 2048, minimum=1) * 1024 * 1024
UPLOAD_ROUTES = {"sessions:upload", "api:upload"}  # every other route takes forms only
MAX_FORM_BYTES = DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
BODY_SECONDS = env_int("CTXWEB_BODY_SECONDS", 20, minimum=1)
BODY_BYTES_PER_SECOND = 4096
UPLOADS_AT_ONCE, FORMS_AT_ONCE = env_int("CTXWEB_UPLOADS_AT_ONCE", 32, minimum=1), 256
DATA_UPLOAD_MAX_NUMBER_FILES = 1000

# Background work.  The rows of the database are the queue.  Without a broker the workers beside the server look there.
# With one (Redis, RabbitMQ) Celery wakes workers on any number of hosts; a message holds no work and may be lost.
CELERY_BROKER_URL = env_str("CTXWEB_BROKER_URL")
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_TIMEOUT = 2
CELERY_BROKER_HEARTBEAT = 0  # a worker at work answers nothing; rows say who lives
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0.1}
CELERY_BROKER_TRANSPORT_OPTIONS = {"max_retries": 1, "socket_connect_timeout": 2, "retry_on_timeout": False}
CELERY_TASK_DEFAULT_QUEUE = env_str("CTXWEB_QUEUE", "ctxweb")
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = TIME_ZONE
SERVER_PROCESSES = env_int("CTXWEB_SERVER_PROCESSES", request_processes(shared=REQUIRE_LOGIN), minimum=1)
WORKER_PROCESSES = env_int("CTXWEB_WORKER_PROCESSES", 1, minimum=1)
WORK_SECONDS = env_int("CTXWEB_TASK_SECONDS", 1800, minimum=1)  # a piece of work that takes longer is ended
READER_MEGABYTES = 300  # a reader that holds more after a piece of work is replaced
FOLLOW_STREAMS = env_int("CTXWEB_FOLLOW_STREAMS", 4)  # each holds one of the server's eight threads
MODELS_FILE, MODELS_FILE_IS_NAMED = models_path(), bool(env_str("CTXWEB_MODELS"))
try:
    use_models_in(MODELS_FILE, named=MODELS_FILE_IS_NAMED)
except BadParameter as wrong:
    raise SettingError(f"{'CTXWEB_MODELS: ' if MODELS_FILE_IS_NAMED else ''}{wrong}.") from wrong

WORKER_HEARTBEAT = DATA / "worker.heartbeat"

# A model's API, only where a key is given; the base URL comes from here alone, never from a page.
ANTHROPIC_API_KEY = env_str("ANTHROPIC_API_KEY")
ANTHROPIC_BASE_URL = env_str("ANTHROPIC_BASE_URL", "https://api.anthropic.com")
ANTHROPIC_MODEL = env_str("CTXWEB_ANTHROPIC_MODEL", "claude-sonnet-5-5")
ANTHROPIC_PER_MINUTE = env_int("CTXWEB_ANTHROPIC_PER_MINUTE", 50, minimum=1)

LOG_LEVEL = env_word("CTXWEB_LOG_LEVEL", "info", ("debug", "info", "warning", "error", "critical")).upper()
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "request_id": {"()": "ctxweb.logs.RequestIdFilter"},
        "hide_tokens": {"()": "ctxweb.logs.HideTokens"},
    },
    "formatters": {
        "line": {"format": "{asctime} {levelname} {name} [{request_id}] {message}", "style": "{"},
    },
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "filters": ["request_id", "hide_tokens"], "formatter": "line"}
    },
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "ctxweb": {"level": LOG_LEVEL},
        "sessions": {"level": LOG_LEVEL},
        "axes": {"level": "ERROR"},  # it writes names and addresses of every attempt
        "django.server": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
    },
}
