"""Command lines that somebody may type wrong: every command, every option, every kind of value in the wrong place."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import click

from ctxweb.cli import COMMANDS, cli
from sessions.engine.base import registry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Line = tuple[str, ...]

RUNS_ON = {"serve", "open", "worker", "watch"}
"""Commands that do not end by themselves: only wrong usage of them is tried."""

TEXTS = (
    "", " ", "-", "--", "x", "-1", "0", "1", "99999999999999999999", "1e400", "nan", "inf", "-0.0", "0x10", "１",
    "=", "a=", "=b", "a=b", "a=b=c", "[/]", "\x1b[31mx", "\u202ex", "\udcff", "{}", "a:b:c", "1:2:3", "x" * 5_000,
    "%s", "${HOME}", "*", "../..", "recorded", "stub:", "stub:-1", "stub:99999999999", "always", "every:0", "first:-1",
)  # fmt: skip
NAMED = {
    "policy": ("claude_code", "sliding_window", "nope", "claudecode", "CLAUDE_CODE", ""),
    "policies": ("claude_code", "nope"),
    "estimator": ("tokens", "bytes", "cl100k", "nope"),
    "summarizer": ("recorded", "stub:100", "stub:0", "stub:x", "extractive", "anthropic", "nope"),
    "pairs": ("threshold=1", "threshold=-1", "threshold=99999999999999999999", "threshold=nan", "threshold=", "x=1"),
    "over": (
        "window=1000:2000:2",
        "window=0:0:0",
        "window=1:2:999999999",
        "window=b:a:x",
        "nope=1:2:2",
        "window=2:1:2",
    ),
    "prices": ("input=1", "input=-1", "input=nan", "input=inf", "input=1e400", "nope=1", "input"),
    "floors": ("max_cost=1", "max_cost=x", "nope=1", "max_cost=nan"),
    "to": ("jsonl", "anthropic", "openai", "nope", "0", "-1"),
    "format_name": ("claude_code", "codex", "inspect", "nope"),
    "policy_cmd": ("false", "true", "cat", "nope-no-such-program", "'", "''", "echo {}", "echo [", "sleep 0"),
    "policy_timeout": ("0.01", "-1", "nan", "inf", "x"),
}
MOST_OF_A_COMMAND = 60


def lines(file: Path, folder: Path) -> list[Line]:
    """All command lines, the same ones every time; ``file`` is a transcript, ``folder`` holds it and odd files."""
    found: list[Line] = [
        (),
        ("--help",),
        ("--version",),
        ("nope",),
        ("--nope",),
        ("",),
        ("\x1b[31m",),
        ("why", "--", "-"),
    ]
    for name in COMMANDS:
        own = list(dict.fromkeys(_of(name, file, folder)))
        chance = random.Random(name)
        found += own if len(own) <= MOST_OF_A_COMMAND else chance.sample(own, MOST_OF_A_COMMAND)
    return found


def _of(name: str, file: Path, folder: Path) -> Iterator[Line]:
    context = click.Context(cli)
    command = cli.get_command(context, name)
    assert command
    yield name, "--help"
    yield name, "--nope"
    yield name, *["x"] * 9
    paths = [str(file), str(folder), "/nope/nope", "", "-", "\udcff", "x" * 5_000, "/dev/null", *_odd(folder)]
    if name in RUNS_ON:
        yield from _wrong_usage(name)
        return
    yield (name,)
    has_file = any(isinstance(one, click.Argument) for one in command.params)
    base: Line = (name, str(file)) if has_file else (name,)
    needed = _needed(name)
    yield from ((*base, *needed, *json) for json in ((), ("--json",)))
    if has_file:
        yield from ((name, path, *needed, *json) for path in paths for json in ((), ("--json",)))
    for option in command.params:
        if not isinstance(option, click.Option) or option.is_flag:
            continue
        flag = option.opts[0]
        for value in NAMED.get(option.name or "", TEXTS if option.name != "out" else (str(folder), "/nope/x", "")):
            as_json: Line = ("--json",) if len(value) % 2 else ()
            others = tuple(part for pair in _pairs(needed) if pair[0] != flag for part in pair)
            yield *base, *others, flag, value, *as_json
        yield *base, flag


def _needed(name: str) -> Line:
    """What a command asks for before it does anything."""
    policy = ("--policy", "claude_code")
    return {
        "export": ("--to", "jsonl"),
        "replay": policy, "sweep": (*policy, "--over", "window=50000:200000:2"), "diff": policy, "probe": policy,
        "check": (*policy, "--max-cost", "1"), "apply": policy,
    }.get(name, ())  # fmt: skip


def _pairs(parts: Line) -> list[Line]:
    return [parts[place : place + 2] for place in range(0, len(parts), 2)]


def _wrong_usage(name: str) -> Iterator[Line]:
    yield from ((name, "--port", value) for value in ("0", "-1", "70000", "x", "") if name == "serve")
    yield from ((name, "--host", value) for value in ("999.1.1.1", "example.invalid", "\udcff") if name == "serve")
    yield from ((name, "--processes", value) for value in ("0", "-1", "65", "x", "") if name == "worker")
    yield from ((name, value) for value in ("/nope", "/dev/null", "\udcff") if name == "watch")
    yield from ((name, value) for value in ("/nope", "", "\udcff", "0123456789", "a@b", "*.nope") if name == "open")


def _odd(folder: Path) -> list[str]:
    return [str(path) for path in sorted(folder.iterdir()) if path.is_file()]


def policies() -> list[str]:
    """The names of all policies."""
    return list(registry.plugins("policies"))
