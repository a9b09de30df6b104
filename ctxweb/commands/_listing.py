"""What ``formats``, ``policies`` and ``estimators`` share: a table for people, a document for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ctxweb.commands._engine import emit
from ctxweb.terminal import Head, show_table, terminal, words


def show(kind: str, entries: Sequence[dict[str, Any]], *, as_json: bool) -> None:
    """``entries`` under ``kind`` as JSON, or as a table of name, label and source."""
    if as_json:
        emit({"schema": f"ctxweb.{kind}/1", kind: list(entries)})
        return
    rows = [(entry["name"], entry["label"], entry["source"]) for entry in entries]
    show_table(terminal(), (Head("name"), words("label"), words("source")), rows)
