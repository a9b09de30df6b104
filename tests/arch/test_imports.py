"""Imports point down, the engine stands alone, and commands load only what they need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.arch.repository import ROOT, files

ENGINE = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in files(".py")
    if path.is_relative_to(ROOT / "sessions/engine")
)
IMPORT_ALL = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
loaded = {name.split(".")[0] for name in sys.modules}
print(sorted(loaded & {"django", "celery", "anthropic", "plotly", "granian", "ctxweb"}))
"""


def python(*arguments: str) -> str:
    """Standard output of a fresh interpreter at the repository's root."""
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=60).stdout


def test_import_contracts() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout


def test_the_engine_imports_without_django() -> None:
    assert len(ENGINE) > 5
    assert python("-c", IMPORT_ALL, *ENGINE).strip() == "[]"


def test_sessions_package_stays_empty() -> None:
    """Importing the engine runs it."""
    assert (ROOT / "sessions/__init__.py").read_text(encoding="utf-8") == ""


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_loads_no_framework(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom ctxweb.cli import cli\n"
        f"cli({arguments!r}, prog_name='ctxweb', standalone_mode=False)\n"
        "print(sorted({'django', 'celery', 'plotly', 'granian', 'tiktoken'} & set(sys.modules)))"
    )
    assert python("-c", code).splitlines()[-1] == "[]"


HEAVY = {"django", "celery", "plotly", "granian", "anthropic", "httpx", "pydantic", "mcp"}
SMALL = str(ROOT / "tests/fixtures/transcripts/claude_code/rewind.jsonl")


@pytest.mark.parametrize(
    ("arguments", "also"),
    [
        (["inspect", SMALL], {"tiktoken", "regex", "sessions.engine.policies.codex"}),
        (["why", SMALL], {"tiktoken", "regex"}),
        (["replay", SMALL, "--policy", "claude_code"], {"sessions.engine.policies.letta"}),
        (["recorded", SMALL], set()),
        (["formats"], {"tiktoken"}),
        (["policies", "claude_code"], {"tiktoken"}),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_command_of_the_engine_loads_no_framework(arguments: list[str], also: set[str]) -> None:
    """Nor, for a small file, what takes longer to start than the file does to read."""
    code = (
        "import sys\nfrom ctxweb.cli import cli\n"
        f"cli({arguments!r}, prog_name='ctxweb', standalone_mode=False)\n"
        f"print(sorted({HEAVY | also!r} & set(sys.modules)))"
    )
    assert python("-c", code).splitlines()[-1] == "[]"


LIGHT = {"click", "jiter", "platformdirs", "rich"}
"""Packages of others that a command of the engine may load for a small file; `_distutils_hack` is setuptools' own."""


@pytest.mark.parametrize(("arguments", "most"), [(["--help"], 12), (["inspect", SMALL], 310), (["why", SMALL], 370)])
def test_a_command_loads_few_modules(arguments: list[str], most: int) -> None:
    """What a start costs: modules of ours, and whose packages.

    ``--help`` within 0.25 s and ``inspect`` of a small file within 0.5 s of processor time hang on these counts; the
    seconds were measured by hand, as no test can.
    """
    code = (
        "import sys\nfrom ctxweb.cli import cli\n"
        f"cli({arguments!r}, prog_name='ctxweb', standalone_mode=False)\n"
        "names = [name.split('.')[0] for name in sys.modules if name != '__main__']\n"
        "print(sum(name in ('ctxweb', 'sessions') for name in names), *sorted(set(names) - sys.stdlib_module_names))"
    )
    n_own, *packages = python("-c", code).splitlines()[-1].split()
    assert int(n_own) <= most
    assert set(packages) - {"_distutils_hack", "ctxweb", "sessions"} <= LIGHT
