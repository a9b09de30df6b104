"""Third-party browser files are what their VENDOR.toml says, and no file is there without an entry."""

from __future__ import annotations

import hashlib
import tomllib
from typing import TYPE_CHECKING, Any

from plotly.offline import get_plotlyjs_version

from tests.arch.repository import ROOT, files, nobody, relative, text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LISTS = [path for path in files(".toml") if path.name == "VENDOR.toml"]
LICENCES = {"MIT", "MPL-2.0", "OFL-1.1", "ISC", "Apache-2.0", "BSD-3-Clause"}


def entries(path: Path) -> list[dict[str, Any]]:
    """The ``[[file]]`` tables of one VENDOR.toml."""
    found: list[dict[str, Any]] = tomllib.loads(text(path))["file"]
    return found


def test_all_lists_are_found() -> None:
    assert {relative(path.parent) for path in LISTS} >= {"static/vendor", "static/fonts", "tests/browser/vendor"}


def test_files_match_their_entries() -> None:
    wrong = [f"{relative(path.parent)}/{fault}" for path in LISTS for fault in faults(path)]
    nobody(wrong, "Run make vendor, or mend VENDOR.toml.")


def faults(path: Path) -> Iterator[str]:
    """What is wrong in the folder of one VENDOR.toml."""
    listed = entries(path)
    for entry in listed:
        name = entry["path"]
        if hashlib.sha256((path.parent / name).read_bytes()).hexdigest() != entry["sha256"]:
            yield f"{name}: another file than the one listed"
        if entry["licence"] not in LICENCES or (path.parent / entry["licence_file"]).stat().st_size <= 500:
            yield f"{name}: licence"
        if not (entry["package"] and entry["version"]):
            yield f"{name}: package or version"
    expected = {e["path"] for e in listed} | {e["licence_file"] for e in listed} | {"VENDOR.toml"}
    for name in sorted(expected ^ {file.name for file in path.parent.iterdir()}):
        yield f"{name}: listed or there, not both"
    if "://" in text(path):
        yield "VENDOR.toml: names a host"


def test_plotly_js_is_the_version_that_plotly_py_writes_for() -> None:
    (entry,) = entries(ROOT / "static/vendor/VENDOR.toml")
    assert entry["package"] == "plotly.js"
    assert entry["version"] == get_plotlyjs_version()
    assert f"v{entry['version']}" in (ROOT / "static/vendor" / entry["path"]).read_text(encoding="utf-8")[:200]
