"""Each kind of output has one module that writes it; nothing else does."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tests.arch.repository import ROOT, files

if TYPE_CHECKING:
    from collections.abc import Iterator

ESCAPING, TERMINAL = "sessions/engine/redact/escaping.py", "ctxweb/terminal.py"
ONE_WAY = {
    "csv.writer": {ESCAPING},
    "csv.DictWriter": {ESCAPING},
    "click.echo": {TERMINAL, "ctxweb/cli.py"},
    "click.secho": {"ctxweb/commands/serve.py"},
    "print": {"sessions/engine/tokens/tokenizer_process.py"},
    "sys.stdout.write": set(),
    "sys.stderr.write": {"ctxweb/terminal.py"},
    "html.escape": {ESCAPING},
    "rich.print": set(),
}
"""Calls, and the modules that may make them: the version in cli.py, a line over itself that was made printable."""
SENDS = {
    "text/csv": "csv_lines",
    "text/markdown": "report_markdown",
    "image/svg+xml": "svg(",
}
"""Media types, and what a module that answers with one calls."""
DRAWN = {"sessions/pages/uploads/view.py": "image/svg+xml"}
"""A picture that holds no text of a transcript."""
HEADERS = {"ctxweb/middleware.py"}


def modules() -> Iterator[tuple[str, str]]:
    for path in files(".py"):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(("ctxweb/", "sessions/")):
            yield name, path.read_text(encoding="utf-8")


def calls(source: str) -> Iterator[str]:
    """Dotted names of what a module calls, imports by name resolved."""
    tree = ast.parse(source)
    full = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            yield full.get(name, name)


def test_nothing_goes_around_the_one_way_out() -> None:
    wrong = [
        f"{name} calls {call}"
        for name, source in modules()
        for call in calls(source)
        if name not in ONE_WAY.get(call, {name})
    ]
    assert not wrong


def test_who_answers_with_text_for_other_programs_calls_its_way_out() -> None:
    wrong = [
        f"{name} answers {kind} without {way}"
        for name, source in modules()
        for kind, way in SENDS.items()
        if kind in source and way not in source and name not in HEADERS and DRAWN.get(name) != kind
    ]
    assert not wrong


def test_no_template_turns_escaping_off() -> None:
    found = [
        path.relative_to(ROOT).as_posix()
        for path in files(".html")
        if "autoescape off" in (text := path.read_text(encoding="utf-8")) or "|safe}}" in text.replace(" ", "")
    ]
    assert not [name for name in found if name.startswith("templates/")]
