"""Puts the documentation site into the wheel where ``make docs`` has built it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BuiltDocs(BuildHookInterface):  # type: ignore[type-arg]  # hatchling's own parameter is its configuration
    """Called by hatchling for every build of the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the site's folder; an editable install reads it where it lies."""
        site = Path(self.root, "build/docs")
        if version == "standard" and (site / "index.html").is_file():
            build_data["force_include"][str(site)] = "ctxweb/_bundled/docs"
