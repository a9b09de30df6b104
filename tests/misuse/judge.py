"""What a command may answer to misuse: words, never a traceback, nothing that steers a terminal, JSON that is JSON."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NoReturn

from click.testing import CliRunner

from ctxweb.cli import cli
from sessions.faults import fault_of

if TYPE_CHECKING:
    from collections.abc import Sequence

STEERS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
PLAIN_OUTPUT = {"export", "apply", "study"}
"""Commands whose standard output is a document for programs, with or without ``--json``."""


def verdict(arguments: Sequence[str]) -> str:
    """Run one command line in this process; what is wrong with the answer, "" where nothing is."""
    # With colour, because click takes escape sequences out of what goes to no terminal.
    result = CliRunner().invoke(cli, list(arguments), input="", color=True)
    error = result.exception
    if error is not None and not isinstance(error, SystemExit) and fault_of(error) is None:
        return f"{type(error).__name__}: {str(error)[:200]}"
    if result.exit_code not in (0, 1, 2):
        return f"exit status {result.exit_code}"
    asked_json = "--json" in arguments and "--help" not in arguments
    if asked_json and result.stdout and (wrong := _wrong_json(result.stdout)):
        return wrong
    if result.exit_code and error is None:
        return "it failed without a reason"
    if result.exit_code == 2 and not result.stderr:
        return "wrong usage without a word"
    document = asked_json or "--csv" in arguments or (arguments and arguments[0] in PLAIN_OUTPUT)
    said = result.stderr if document else result.output
    shown = "".join(arguments)  # what the caller typed, click repeats
    found = next((hit for hit in STEERS.findall(said) if hit not in shown), "")
    return f"a character that steers the terminal: {found!r}" if found else ""


def _wrong_json(text: str) -> str:
    try:
        text.encode("utf-8")
        json.loads(text, parse_constant=_no_constant)
    except ValueError as error:
        return f"standard output is no JSON: {error}"
    return ""


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
