"""Every command line of README and guides: those with output print it, the others are commands with such options."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import click
import pytest

from ctxweb.cli import cli
from scripts import examples
from tests.arch.repository import ROOT, relative

if TYPE_CHECKING:
    from pathlib import Path

SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("path", examples.documents(), ids=relative)
def test_an_example_prints_what_the_document_shows(path: Path) -> None:
    """Run ``python scripts/examples.py`` where the output has changed on purpose."""
    text = path.read_text(encoding="utf-8")
    assert examples.written(text) == text


def test_a_command_line_without_output_names_options_that_exist() -> None:
    found = 0
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("**/*.md")]:
        for block in SHELL.findall(path.read_text(encoding="utf-8")):
            for line in block.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                if words[:1] != ["ctxweb"] or len(words) == 1:
                    continue
                command = cli.get_command(click.Context(cli), words[1])
                assert command, (relative(path), line)
                known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
                options = {word.partition("=")[0] for word in words[2:] if word.startswith("--")}
                assert options <= known, (relative(path), line, options - known)
                found += 1
    assert found >= 8
