"""The application as ``ctxweb serve`` runs it: behind ``ctxweb.front``, in a process that ends with its parent."""

from __future__ import annotations

import atexit
import importlib
import multiprocessing
import os
import threading
from typing import TYPE_CHECKING, cast

from ctxweb.beside import end_with_parent

if TYPE_CHECKING:
    from ctxweb.front import Front
    from ctxweb.gateway import Application

# A process started just as the server was killed finds another parent already: it must end too.
end_with_parent(int(os.environ.get("CTXWEB_SERVER_PID", os.getppid())))

from ctxweb.wsgi import application as django_application  # noqa: E402

# What the first session page needs and start-up does not; imported while the user looks at the library.
SLOW_IMPORTS = ("plotly.io", "plotly.graph_objects", "sessions.urls", "sessions.engine.base.registry")


def front() -> Front:
    """Django behind the front, which can only be imported once Django's apps are loaded."""
    from ctxweb.front import Front

    return Front(cast("Application", django_application))


def warm() -> None:
    """Import what the first session page would otherwise wait for."""
    for name in SLOW_IMPORTS:
        importlib.import_module(name)


if multiprocessing.parent_process() is not None:
    # The last thing done: where Python takes itself apart, granian's threads may still ask for it, and end in an abort.
    atexit.register(os._exit, 0)

threading.Thread(target=warm, name="warm", daemon=True).start()

application = front()

__all__ = ["application"]
