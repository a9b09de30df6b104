"""Text of a transcript on a terminal: brackets stay brackets, escape sequences and reading marks are shown."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.table import Table

from ctxweb.cli import cli
from ctxweb.terminal import printable, terminal, titled

HOSTILE = "[/] [bold]x \x1b[31mred\x1b]0;t\x07 \u202egnp \x9b2J \ud83d :smile: \0"


def shown(*parts: object) -> str:
    out = io.StringIO()
    console = terminal(out)
    for part in parts:
        console.print(part)
    return out.getvalue()


def test_markup_and_escape_sequences_are_shown_in_text_cells_and_titles() -> None:
    table = Table(box=None)
    table.add_column("h")
    table.add_row(HOSTILE)
    for text in (shown(HOSTILE), shown(table), shown(titled(HOSTILE, HOSTILE))):
        assert "[/] [bold]x" in text
        assert ":smile:" in text
        assert not {"\x1b", "\x07", "\u202e", "\x9b", "\ud83d", "\0"} & set(text)


def test_what_steers_nothing_stays_as_it_is() -> None:
    assert printable("naïve — 漢字 🧑‍🚀\tx\ny") == "naïve — 漢字 🧑‍🚀\tx\ny"


@pytest.mark.parametrize("command", ["inspect", "why"])
def test_a_title_with_brackets_is_a_title(command: str, tmp_path: Path) -> None:
    file = tmp_path / "[bold] odd.jsonl"
    lines = [{"role": "user", "content": "[/] end [it] \x1b[2J"}, {"role": "assistant", "content": "[/bold]"}]
    file.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    result = CliRunner().invoke(cli, [command, str(file)], color=True)
    assert (result.exit_code, result.exception) == (0, None)
    assert "[/] end [it]" in result.stdout
    assert "\x1b" not in result.output
