"""The WSGI application as ``ctxweb serve`` runs it: in a process that ends when its parent has gone."""

from __future__ import annotations

import os

from ctxweb.parent import end_with_parent

# A process started just as the server was killed finds another parent already: it must end too.
end_with_parent(int(os.environ.get("CTXWEB_SERVER_PID", os.getppid())))

from ctxweb.wsgi import application  # noqa: E402

__all__ = ["application"]
