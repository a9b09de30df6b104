"""Write docs/schemas/: a JSON Schema for each document that a command prints, made of what it prints.

Every fixture is read, each command's documents are laid over each other, and what all of them have is required.  A
field that a schema requires stays: the tests hold what the commands print against the committed files, so taking one
away, or changing its type, needs a new number behind the document's name.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

from click.testing import CliRunner

from ctxweb.cli import cli
from sessions.engine.demo.session import write_demo

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "schemas"
FIXTURES = ROOT / "tests" / "fixtures" / "transcripts"
LARGEST = 60_000
MAPS = re.compile(r"params|parameters|survival|swept|setting|given|attachments|regrew|floors|.*_by_.*|by_.*")
"""Objects whose keys are data, not names of fields."""
FRACTIONS = re.compile(
    r"dollar|usd|cost|price|rate|confidence|share|factor|overcount|minutes|seconds|low|high|score|ratio|baseline|"
    r"value|limit|threshold|measure|per_|fraction|regret|level|mean|median|share|default|minimum|maximum|error|"
    r"saved|spent|size|amount|input|output|read|write|after|above|below|weight|interval|bins|from|to$"
)
"""Figures that need not be whole, whatever the fixtures happen to show."""
CERTAIN = re.compile(r"n_.*|index|schema")
"""Figures that are always there; any other may be null where it is not known, whatever the fixtures happen to show."""
WINDOW = ("--policy", "sliding_window", "--window", "3000")
COMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "inspect": ((),),
    "why": ((), ("--window", "5000")),
    "aftermath": ((),),
    "recorded": ((),),
    "replay": (("--policy", "claude_code"), WINDOW, ("--policy", "none", "--base", "recorded")),
    "diff": (("--policy", "claude_code"), WINDOW),
    "generations": ((), ("--policy", "claude_code")),
    "probe": (("--policy", "claude_code"), WINDOW, ("--policy", "none")),
    "sweep": ((*WINDOW, "--over", "window=3000:9000:2"), (*WINDOW, "--regret", "--over", "keep_last=2:4:2")),
    "check": ((*WINDOW, "--max-compactions", "2"),),
    "apply": (("--policy", "claude_code"), ("--policy", "codex", "--window", "200000")),
    "fleet": ((), ("--sessions",)),
    "study": ((),),
}
"""Commands that take a file, with the options that each fixture is given."""
PLAIN = ("formats", "policies", "estimators")
STORED = ("ingest", "doctor", "count", "search", "delete", "list")
"""Commands about what is stored or lies in a home folder: they are asked once, one after the other."""
SLOW = ("replay", "diff", "generations", "probe", "sweep", "check", "study", "fleet", "apply")
"""Commands that read every eighth fixture."""


def printed(*words: str) -> dict[str, Any] | None:
    """The document that a command prints, None where it has none for its file."""
    result = CliRunner().invoke(cli, [*words, "--json"])
    try:
        found = json.loads(result.stdout)
    except ValueError:
        return None
    return found if isinstance(found, dict) and found.get("schema") != "ctxweb.files/1" else None


def fixtures() -> list[Path]:
    """The demo session, and small transcripts of every format in a fixed order."""
    demo = Path(tempfile.mkdtemp()) / "demo.jsonl"
    with demo.open("wb") as file:
        write_demo(file)
    small = (path for path in FIXTURES.rglob("*") if path.is_file() and path.stat().st_size < LARGEST)
    return [demo, *sorted(small)]


def documents(command: str, files: list[Path]) -> list[dict[str, Any]]:
    """What a command prints of the files."""
    if command in PLAIN:
        return [found for found in [printed(command)] if found]
    chosen = files[::8] if command in SLOW else files
    asked = (printed(command, str(path), *options) for path in chosen for options in COMMANDS[command])
    return [found for found in asked if found is not None]


def stored(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """What the commands about stored sessions print, with the demo session in a home folder below ``folder``."""
    demo, broken = (
        folder / ".claude/projects/-work-shop/demo.jsonl",
        folder / ".claude/projects/-work-shop/broken.jsonl",
    )
    demo.parent.mkdir(parents=True, exist_ok=True)
    broken.write_text("no transcript\n", encoding="utf-8")
    with demo.open("wb") as file:
        write_demo(file)
    asked: dict[str, tuple[tuple[str, ...], ...]] = {
        "ingest": ((str(demo),), (str(demo), str(broken))),
        "doctor": ((), ("--deep",)),
        "count": ((str(demo), "--to", "4"),),
        "search": (("pay", "total"), ("zzqq",)),
        "delete": (("--older-than", "0d"),),
        "list": ((), ("--yes",)),
    }
    with patch.dict(os.environ, {"HOME": str(folder), "ANTHROPIC_API_KEY": ""}):
        return {
            name: [found for options in ways if (found := printed(name, *options)) is not None]
            for name, ways in asked.items()
        }


def schema_of(values: list[Any], name: str = "") -> dict[str, Any]:
    """What all the values have in common."""
    kinds = {_kind(value, name) for value in values}
    kinds -= {"integer"} if "number" in kinds else set()
    found: dict[str, Any] = {}
    if kinds & {"integer", "number"} and not CERTAIN.fullmatch(name):
        kinds.add("null")
    if kinds:
        ordered = sorted(kinds)
        found["type"] = ordered[0] if len(ordered) == 1 else ordered
    objects = [value for value in values if isinstance(value, dict)]
    if objects and not MAPS.fullmatch(name):
        keys = sorted({key for one in objects for key in one})
        found["properties"] = {key: schema_of([one[key] for one in objects if key in one], key) for key in keys}
        required = [key for key in keys if all(key in one for one in objects)]
        found |= {"required": required} if required else {}
    items = [item for value in values if isinstance(value, list) for item in value]
    if items and not MAPS.fullmatch(name):
        found["items"] = schema_of(items, name)
    return found


def _kind(value: Any, name: str) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number" if isinstance(value, float) or FRACTIONS.search(name) else "integer"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


def schema(command: str, found: list[dict[str, Any]]) -> dict[str, Any]:
    """The schema of a command's documents; more fields may come."""
    name = found[0].get("schema", f"ctxweb.{command}/1")
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": name,
        "description": f"What `ctxweb {command} --json` prints. Fields may be added; none that is required goes.",
    }
    body = schema_of(found)
    if "schema" in body.get("properties", {}):
        body["properties"]["schema"] = {"const": name}
    return head | body


def main() -> None:
    """Write every file."""
    FOLDER.mkdir(exist_ok=True)
    files = fixtures()
    made = {command: documents(command, files) for command in (*COMMANDS, *PLAIN)}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CTXWEB_DATA"] = f"{folder}/data"
        made |= stored(Path(folder))
    for command, found in made.items():
        text = json.dumps(schema(command, found), indent=1, ensure_ascii=False)
        (FOLDER / f"{command}.json").write_text(f"{text}\n", encoding="utf-8")
        print(command, len(text))


if __name__ == "__main__":
    main()
