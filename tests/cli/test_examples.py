"""Every command line of README and docs: those with output print it, the others run, all have such options."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from ctxweb.cli import cli
from scripts import examples
from scripts.first_minute import lay_out
from tests.arch.repository import ROOT, relative

SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", examples.documents(), ids=relative)
def test_an_example_prints_what_the_document_shows(path: Path) -> None:
    """Run ``python scripts/examples.py`` where the output has changed on purpose."""
    text = path.read_text(encoding="utf-8")
    assert examples.written(text) == text


EXEMPT = {
    r"make |\.ci/run|docker |sh scripts/": "the gate runs the targets themselves; there is no docker here",
    r"claude |curl |python docs|CTXWEB_URL": "needs another program, or a server that answers: tests/cli/test_ci.py",
    r"ctxweb (serve|worker|open)\b": "does not end: tests/cli/test_serve.py and test_open.py start it",
    r"ctxweb user\b": "asks for a password on a terminal: tests/cli/test_user.py",
    r"ctxweb (token|ingest .* --to)\b": "needs an account, and a server that answers: tests/cli/test_ci.py",
    r"ctxweb delete (s_|--upload)": "names an id of the reader's",
    r"ctxweb why FILE": "names a file of the reader's",
    r"export |eval |_CTXWEB_COMPLETE|source ": "sets something in the reader's shell",
}
"""Lines of ``sh`` blocks that are not run, and why; all others are, one after the other in one folder."""


def shell_lines() -> list[tuple[str, str]]:
    """Document and line of every command in an ``sh`` block."""
    documents = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
    return [
        (relative(path), line)
        for path in documents
        for block in SHELL.findall(path.read_text(encoding="utf-8"))
        for line in block.replace("\\\n", " ").splitlines()
        if line.strip() and not line.lstrip().startswith("#")
    ]


def test_every_block_says_what_it_is() -> None:
    """A command in a block of another language would be run by nobody."""
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("**/*.md")]:
        fences = re.findall(r"^```(\w*)\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        lost = [body for name, body in fences if name not in {"sh", "console"} and re.search(r"^(\$ |ctxweb )", body)]
        assert not lost, (relative(path), lost)


@pytest.mark.exhaustive
def test_the_other_command_lines_run_as_printed(tmp_path: Path) -> None:
    every = [(path, line) for path, line in shell_lines() if not any(re.match(why, line) for why in EXEMPT)]
    assert len(every) >= 8
    for name in ("compact.py", "compact.mjs"):
        (tmp_path / name).write_bytes((ROOT / "docs/examples" / name).read_bytes())
    lay_out(tmp_path)
    examples.printed("ctxweb demo", tmp_path)
    examples.printed("ctxweb demo --out demo.jsonl", tmp_path)
    for path, line in every:
        said = examples.printed(f"echo y | {line.partition('  #')[0]}; echo status $?", tmp_path)
        assert said.endswith("status 0\n"), (path, line, said)


def test_every_exemption_is_used() -> None:
    lines = [line for _, line in shell_lines()]
    assert not [why for why in EXEMPT if not any(re.match(why, line) for line in lines)]


def test_every_command_that_a_document_names_has_such_options() -> None:
    """In blocks and in running text."""
    found = 0
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("**/*.md")]:
        text = path.read_text(encoding="utf-8")
        inline = re.findall(r"`(ctxweb [^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL))
        blocks = [line for block in SHELL.findall(text) for line in block.replace("\\\n", " ").splitlines()]
        for line in [*inline, *blocks]:
            words = shlex.split(line, comments=True)
            if words[:1] != ["ctxweb"] or len(words) == 1 or words[1] == "COMMAND" or words[1].startswith("-"):
                continue
            command = cli.get_command(click.Context(cli), words[1])
            assert command, (relative(path), line)
            if isinstance(command, click.Group) and len(words) > 2:
                command = command.get_command(click.Context(command), words[2]) or command
            known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)} | {"--help"}
            options = {word.partition("=")[0].rstrip("/.,") for word in words[2:] if word.startswith("--")}
            assert options <= known, (relative(path), line, options - known)
            found += 1
    assert found >= 40
