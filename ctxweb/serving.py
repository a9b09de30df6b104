"""The WSGI application as ``ctxweb serve`` runs it: in a process that ends when its parent has gone."""

from __future__ import annotations

import os

from ctxweb.parent import end_with_parent

end_with_parent(os.getppid())

from ctxweb.wsgi import application  # noqa: E402

__all__ = ["application"]
