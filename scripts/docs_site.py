"""What mkdocs does beside building: flowcharts are drawn, pages that ask another host fail the build, and weight goes.

Named under ``hooks`` in mkdocs.yml.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # mkdocs loads this file alone
from scripts.diagrams import pictures

OFF_ORIGIN = re.compile(r"""<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)=["']?(?:https?:)?//[^"'>\s]+""")


def on_page_markdown(markdown: str, **_page: Any) -> str:
    """A picture in place of every flowchart's source."""
    return pictures(markdown)


def on_post_build(config: Any) -> None:
    """Check every page, then remove source maps and the word lists of languages that the site does not have."""
    site = Path(config["site_dir"])
    for page in site.rglob("*.html"):
        found = OFF_ORIGIN.search(page.read_text(encoding="utf-8"))
        if found:
            raise SystemExit(f"{page.relative_to(site)} asks another host: {found[0]}")
    for path in (*site.rglob("*.map"), *site.glob("assets/javascripts/lunr/min/lunr.*.min.js")):
        path.unlink()
