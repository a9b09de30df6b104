"""Third-party browser files are what their VENDOR.toml says, and no file is there without an entry."""

from __future__ import annotations

import hashlib
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from plotly.offline import get_plotlyjs_version

from tests.arch.repository import ROOT, files, relative

if TYPE_CHECKING:
    from pathlib import Path

LISTS = [path for path in files(".toml") if path.name == "VENDOR.toml"]
LICENCES = {"MIT", "MPL-2.0", "OFL-1.1", "ISC", "Apache-2.0", "BSD-3-Clause"}


def entries(path: Path) -> list[dict[str, Any]]:
    """The ``[[file]]`` tables of one VENDOR.toml."""
    found: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))["file"]
    return found


def test_all_lists_are_found() -> None:
    assert {relative(path.parent) for path in LISTS} >= {"static/vendor", "static/fonts", "tests/browser/vendor"}


@pytest.mark.parametrize("path", LISTS, ids=relative)
def test_files_match_their_entries(path: Path) -> None:
    listed = entries(path)
    for entry in listed:
        data = (path.parent / entry["path"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == entry["sha256"], entry["path"]
        assert entry["licence"] in LICENCES
        assert (path.parent / entry["licence_file"]).stat().st_size > 500
        assert entry["package"]
        assert entry["version"]
    expected = {e["path"] for e in listed} | {e["licence_file"] for e in listed} | {"VENDOR.toml"}
    assert {file.name for file in path.parent.iterdir()} == expected
    assert "://" not in path.read_text(encoding="utf-8")


def test_plotly_js_is_the_version_that_plotly_py_writes_for() -> None:
    (entry,) = entries(ROOT / "static/vendor/VENDOR.toml")
    assert entry["package"] == "plotly.js-basic-dist-min"
    assert entry["version"] == get_plotlyjs_version()
    assert f"v{entry['version']}" in (ROOT / "static/vendor" / entry["path"]).read_text(encoding="utf-8")[:200]
