"""No committed file says where packages come from, and no template carries inline script or style."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from django.contrib.staticfiles import finders

from tests.arch.repository import files, relative

if TYPE_CHECKING:
    from pathlib import Path

TEXT = [path for path in files() if path.suffix not in {".woff2", ".xz", ".png", ".gz", ".zip"}]
# Put together here so that this file does not name them either.
HOSTS = ["pypi" + ".org", "python" + "hosted.org", "registry." + "npmjs", "unpkg" + ".com", "jsdelivr" + ".net"]
OPTIONS = ["--index" + "-url", "--extra-index" + "-url", "--find" + "-links", "index" + "_url"]
TEMPLATES = [path for path in files(".html") if "templates" in path.parts]


@pytest.mark.parametrize("path", TEXT, ids=relative)
def test_names_no_package_index(path: Path) -> None:
    text = path.read_text(encoding="utf-8", errors="replace")
    assert [word for word in (*HOSTS, *OPTIONS) if word in text] == []


def test_requirements_are_pinned_with_hashes() -> None:
    requirements = [path for path in files(".txt") if path.parent.name == "requirements"]
    assert {path.name for path in requirements} == {"base.txt", "dev.txt"}
    for path in requirements:
        text = path.read_text(encoding="utf-8").replace("\\\n", " ")
        lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
        assert lines
        assert [line for line in lines if "==" not in line or "--hash=sha256:" not in line] == []
        assert "://" not in text


@pytest.mark.parametrize("path", TEMPLATES, ids=relative)
def test_template_has_no_inline_code(path: Path) -> None:
    """The policy forbids it; the one style element is Plotly's, empty, with the page's nonce."""
    text = re.sub(r"{#.*?#}|{% comment.*?endcomment %}", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert re.findall(r"<[^>]*\sstyle\s*=", text) == []
    assert re.findall(r"<[^>]*\son[a-z]+\s*=", text) == []
    assert [tag for tag in re.findall(r"<script[^>]*>", text) if "src=" not in tag] == []
    styles = re.findall(r"<style[^>]*>.*?</style>", text, flags=re.DOTALL)
    assert set(styles) <= {'<style id="plotly.js-style-global" nonce="{{ csp_nonce }}"></style>'}


@pytest.mark.parametrize("path", [*TEMPLATES, *files(".css")], ids=relative)
def test_pages_fetch_nothing_from_elsewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"""(?:src|href)\s*=\s*["'](?:https?:)?//[^"']*\.(?:js|css|woff2?|png|svg)""", text) == []
    assert re.findall(r"""url\(\s*["']?(?:https?:)?//""", text) == []


@pytest.mark.parametrize("path", TEMPLATES, ids=relative)
def test_static_files_named_in_templates_exist(path: Path) -> None:
    """Under hashed names a misspelt one is an error 500; the tests' plain storage would not notice."""
    names = re.findall(r"{%\s*static\s+['\"]([^'\"]+)['\"]", path.read_text(encoding="utf-8"))
    assert [name for name in names if finders.find(name) is None] == []
