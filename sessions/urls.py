"""URLs of the app: those of every page, found by its folder."""

from __future__ import annotations

import importlib
import pkgutil

from sessions import pages

app_name = "sessions"

urlpatterns = [
    pattern
    for page in pkgutil.iter_modules(pages.__path__)
    if page.name != "ui"
    for pattern in importlib.import_module(f"sessions.pages.{page.name}.urls").urlpatterns
]
