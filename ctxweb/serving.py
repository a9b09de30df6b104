"""The WSGI application as ``ctxweb serve`` runs it: in a process that ends when its parent has gone."""

from __future__ import annotations

import importlib
import os
import threading

from ctxweb.parent import end_with_parent

# A process started just as the server was killed finds another parent already: it must end too.
end_with_parent(int(os.environ.get("CTXWEB_SERVER_PID", os.getppid())))

from ctxweb.wsgi import application  # noqa: E402

# What the first session page needs and start-up does not; imported while the user looks at the library.
SLOW_IMPORTS = ("plotly.io", "plotly.graph_objects", "sessions.urls", "sessions.engine.registry")


def warm() -> None:
    """Import what the first session page would otherwise wait for."""
    for name in SLOW_IMPORTS:
        importlib.import_module(name)


threading.Thread(target=warm, name="warm", daemon=True).start()

__all__ = ["application"]
