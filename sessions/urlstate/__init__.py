"""Query string ↔ view state: the only place that knows parameter names, one module per screen."""

from __future__ import annotations
