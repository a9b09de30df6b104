"""Every command on a hostile transcript: nothing that it prints or writes acts, whatever a text of the file says."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from ctxweb.cli import cli
from tests.cli.test_piped import NEEDED, commands
from tests.web.test_sinks import HIDDEN, KEY, acts, hostile_file

FORMS = {"--json": "json", "--csv": "csv", "--markdown": "markdown", "": "terminal"}
MARKDOWN = {"report", "study"}
HIDES = {"report", "share"}
"""Commands with --hide."""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hostile") / "x \x1b[31m \u202e `a` @octocat.jsonl"
    path.write_bytes(hostile_file())
    return path


def forms(name: str) -> list[str]:
    command = cli.get_command(None, name)  # type: ignore[arg-type]
    assert command
    known = {option for one in command.params for option in one.opts}
    return [form for form in FORMS if not form or form in known]


CALLS = [(name, form) for name in sorted(commands()) if name != "open" for form in forms(name)]
"""``open`` starts a server, which prints its address."""


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("name", "form"), CALLS)
def test_what_a_command_prints_is_text(
    name: str, form: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = [one.format(out=tmp_path / "out") for one in NEEDED.get(name, ())]
    hide = ["--hide", HIDDEN] if name in HIDES else []
    result = CliRunner().invoke(cli, [name, str(file), *options, *hide, *([form] if form else [])])
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    kind = "markdown" if name in MARKDOWN and not form else FORMS[form]
    assert result.stdout or result.stderr
    assert not acts("terminal", result.stdout + result.stderr)
    assert not acts(kind, result.stdout) if result.stdout and result.exit_code == 0 else True
    written = [result.stdout, *(one.read_text() for one in tmp_path.iterdir() if one.suffix in {"", ".html", ".svg"})]
    if name in HIDES:
        assert not [what for what in (HIDDEN, KEY) for text in written if what in text]


def test_a_report_and_its_chart_hide_what_was_to_be_hidden(file: Path, tmp_path: Path) -> None:
    svg, out = tmp_path / "chart.svg", tmp_path / "report.md"
    done = CliRunner().invoke(
        cli,
        ["report", str(file), "--policy", "claude_code", "--set", "pct_override=20", "--hide", HIDDEN, "--svg",
         str(svg), "-o", str(out), "--skeleton", str(tmp_path / "s.gz")],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    for kind, path in (("svg", svg), ("markdown", out)):
        text = path.read_text()
        assert not acts(kind, text)
        assert HIDDEN not in text
        assert KEY not in text
    assert "model" in out.read_text() or "claude" in out.read_text()
