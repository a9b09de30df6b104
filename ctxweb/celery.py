"""The Celery application.  Its settings are Django's, under the prefix ``CELERY_``."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ctxweb.settings")

app = Celery("ctxweb")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(related_name="messages")
