"""No committed file says where packages come from, and no template carries inline script or style."""

from __future__ import annotations

import re

from django.contrib.staticfiles import finders

from tests.arch.repository import files, nobody, relative, templates, text

# Put together here so that this file does not name them either.
HOSTS = ["pypi" + ".org", "python" + "hosted.org", "registry." + "npmjs", "unpkg" + ".com", "jsdelivr" + ".net"]
OPTIONS = ["--index" + "-url", "--extra-index" + "-url", "--find" + "-links", "index" + "_url"]
PLOTLY_STYLE = '<style id="plotly.js-style-global" nonce="{{ csp_nonce }}"></style>'
"""The one style element, Plotly's own: empty, with the page's nonce."""


def test_no_file_names_a_package_index() -> None:
    paths = [path for path in files() if path.suffix not in {".woff2", ".xz", ".png", ".gz", ".zip"}]
    found = [f"{relative(path)}: {word}" for path in paths for word in (*HOSTS, *OPTIONS) if word in text(path)]
    nobody(found, "Whoever installs decides where packages come from.")


def test_requirements_are_pinned_with_hashes() -> None:
    requirements = [path for path in files(".txt") if path.parent.name == "requirements"]
    assert {path.name for path in requirements} == {"base.txt", "dev.txt", "mcp.txt", "server.txt"}
    for path in requirements:
        joined = text(path).replace("\\\n", " ")
        lines = [line for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")]
        assert lines
        nobody([line for line in lines if "==" not in line or "--hash=sha256:" not in line], f"{path.name}: make lock")
        assert "://" not in joined


def inline_code(template: str) -> list[str]:
    """Attributes and elements that the content security policy forbids."""
    bare = re.sub(r"{#.*?#}|{% comment.*?endcomment %}", "", template, flags=re.DOTALL)
    found: list[str] = re.findall(r"<[^>]*\sstyle\s*=", bare) + re.findall(r"<[^>]*\son[a-z]+\s*=", bare)
    found += [tag for tag in re.findall(r"<script[^>]*>", bare) if "src=" not in tag]
    return found + [tag for tag in re.findall(r"<style[^>]*>.*?</style>", bare, flags=re.DOTALL) if tag != PLOTLY_STYLE]


def fetched(page: str) -> list[str]:
    """What a page or style sheet would fetch from another host."""
    named = re.findall(r"""(?:src|href)\s*=\s*["'](?:https?:)?//[^"']*\.(?:js|css|woff2?|png|svg)""", page)
    return named + re.findall(r"""url\(\s*["']?(?:https?:)?//[^)]*""", page)


def test_templates_have_no_inline_code() -> None:
    found = [f"{relative(path)}: {part}" for path in templates() for part in inline_code(text(path))]
    nobody(found, "Move script and style into static files.")


def test_inline_code_and_foreign_files_are_found() -> None:
    for bad in ('<p style="x">', '<a onclick="x">', "<script>x</script>", "<style>x</style>"):
        assert len(inline_code(bad)) == 1, bad
    assert inline_code(f'<script src="x.js"></script>{PLOTLY_STYLE}{{# <p style="x"> #}}') == []
    assert len(fetched('<img src="//elsewhere/a.png"> a { background: url(https://elsewhere/b) }')) == 2


def test_pages_fetch_nothing_from_elsewhere() -> None:
    pages = (*templates(), *files(".css"))
    nobody([f"{relative(path)}: {part}" for path in pages for part in fetched(text(path))], "Bring the file along.")


def test_static_files_named_in_templates_exist() -> None:
    """Under hashed names a misspelt one is an error 500; the tests' plain storage would not notice."""
    tag = re.compile(r"{%\s*static\s+['\"]([^'\"]+)['\"]")
    found = [f"{relative(p)}: {name}" for p in templates() for name in tag.findall(text(p)) if not finders.find(name)]
    nobody(found, "There is no such static file.")
