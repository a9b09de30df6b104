"""Settings of the tests: the application's own, with a throw-away data directory and tasks run in place.

The database is SQLite in memory unless ``CTXWEB_TEST_DATABASE_URL`` names a server; nothing else of the caller's
environment reaches the tests.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile

KEPT = {"CTXWEB_CORPUS", "CTXWEB_EVERY", "CTXWEB_PARITY", "CTXWEB_SAMPLES", "CTXWEB_TEST_DATABASE_URL"}
for name in [name for name in os.environ if name.startswith(("CTXWEB_", "ANTHROPIC_")) and name not in KEPT]:
    del os.environ[name]
# Each of the hundreds of processes that tests start would compile everything anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
os.environ["DATABASE_URL"] = os.environ.get("CTXWEB_TEST_DATABASE_URL", "")
os.environ["CTXWEB_DATA"] = tempfile.mkdtemp(prefix="ctxweb-tests-")
os.environ["CTXWEB_SECRET_KEY"] = "tests-only"
atexit.register(shutil.rmtree, os.environ["CTXWEB_DATA"], ignore_errors=True)

from ctxweb.settings import *  # noqa: E402, F403

ALLOWED_HOSTS = ["testserver", "127.0.0.1", "localhost"]
SILENCED_SYSTEM_CHECKS = [
    "ctxweb.W001",
    "ctxweb.W002",
]  # nobody's real name; a broker in memory
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Hashed names need collectstatic; without it a live server answers 404 for them.
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
STATIC_ROOT.mkdir(exist_ok=True)  # noqa: F405
FINDS_SESSIONS = False  # who runs the tests may have sessions of their own
# A broker that runs every message in place: what is posted is read before the answer.
CELERY_BROKER_URL = "memory://"
CELERY_TASK_ALWAYS_EAGER = True
ANTHROPIC_PER_MINUTE = 60_000  # the fake API is not to be spared
CELERY_TASK_EAGER_PROPAGATES = True
