"""Times ``ctxweb ingest`` beside two other tools on generated transcripts: ``make bench`` or ``python -m tests.bench``.

Each tool reads a file in a fresh data directory (cold) and at once a second time, with nothing new (warm).  Runs take
turns; ratios are medians of such rounds, so that all meet the same load, and the processor time of all processes
stands beside the time that passed.  Memory is measured in a round of its own.  The generator of the files is named by
CTXWEB_BENCH_MAKER (default: ../shared/bench/make_transcripts.py), their folder by CTXWEB_BENCH_DATA.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from statistics import median as middle
from typing import TYPE_CHECKING, NamedTuple

from sessions.engine.reading import jsonio
from tests.bench.timing import Run, at_home, cpu_of, timed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]
REPORT = ROOT / "docs" / "benchmarks" / "ingest.md"
FILES = {
    "text-10.jsonl": (), "text-100.jsonl": (), "images-100.jsonl": (), "small-200": (),
    "varied-100.jsonl": ("--mb", "100", "--varied"), "messages-100000.jsonl": ("--messages", "100000"),
}  # fmt: skip
"""Names of generated files and folders, with what the generator is told to make them."""
BUDGET_MB = 250


class Visit(NamedTuple):
    """One file read in a fresh directory, then once more."""

    cold: Run
    warm: Run


class Tool(NamedTuple):
    """A name, its version, and what reads a file: a path and whether memory is watched."""

    name: str
    version: str
    visit: Callable[[Path, bool], Visit]


def main() -> None:
    """Make the files, run everything, print and write the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=3, help="rounds per file; the median is reported")
    parser.add_argument("--files", nargs="*", default=FILES, help="names of generated files")
    parser.add_argument("--no-report", action="store_true", help="print only")
    args = parser.parse_args()
    folder = make_files()
    tools = [Tool("ctxweb", "", visit_ctxweb), *peers()]
    tables = [heading(tools, "cold"), heading(tools, "warm")]
    for name in args.files:
        visits = measure(folder / name, tools, args.runs)
        for table, state in zip(tables, Visit._fields, strict=True):
            table.append(row_text(name, [[getattr(visit, state) for visit in one] for one in visits]))
            print(state, table[-1], flush=True)
    if not args.no_report:
        REPORT.write_text(report(tables, args.runs, tools[1:]), encoding="utf-8")
        print(f"written: {REPORT.relative_to(ROOT)}")


def measure(path: Path, tools: list[Tool], runs: int) -> list[list[Visit]]:
    """For each tool its visits of ``path``: one for memory, then ``runs`` for time, in turn with the others'."""
    found = [[tool.visit(path, True)] for tool in tools]
    for _ in range(runs):
        for tool, visits in zip(tools, found, strict=True):
            visits.append(tool.visit(path, False))
    return found


def make_files() -> Path:
    """The folder with the generated files, made once."""
    maker = Path(os.environ.get("CTXWEB_BENCH_MAKER", ROOT.parent / "shared" / "bench" / "make_transcripts.py"))
    folder = Path(os.environ.get("CTXWEB_BENCH_DATA", ROOT / "bench-data"))
    missing = [told for name, told in FILES.items() if not (folder / name).exists()]
    if not missing:
        return folder
    if not maker.exists():
        sys.exit(f"{maker} is missing: set CTXWEB_BENCH_MAKER to the generator, or CTXWEB_BENCH_DATA to its output")
    folder.mkdir(parents=True, exist_ok=True)
    for told in dict.fromkeys(missing):
        subprocess.run([sys.executable, str(maker), str(folder), *told], check=True, stdout=subprocess.DEVNULL)
    return folder


def peers() -> list[Tool]:
    """agentsview and claude-code-log, by CTXWEB_BENCH_AGENTSVIEW and CTXWEB_BENCH_CLAUDE_CODE_LOG or from PATH."""
    found = []
    for name, visit in (("agentsview", visit_agentsview), ("claude-code-log", visit_log)):
        path = os.environ.get("CTXWEB_BENCH_" + name.upper().replace("-", "_")) or shutil.which(name)
        if path:
            said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
            found.append(Tool(name, said.strip().splitlines()[0], visit(path)))
    return found


def visit_ctxweb(path: Path, watched: bool) -> Visit:
    """``ctxweb ingest`` into a new data directory, database creation included, and again."""
    with tempfile.TemporaryDirectory(prefix="ctxweb-bench-") as data:
        env = {**os.environ, "CTXWEB_DATA": data, "DATABASE_URL": ""}
        env.pop("PYTHONDONTWRITEBYTECODE", None)  # each start would compile every module anew, as on no user's machine
        output, runs = Path(data) / "result.json", []
        for wanted in ("new", "duplicate"):
            runs.append(
                timed([sys.executable, "-m", "ctxweb", "ingest", str(path), "--json"], env, output, watched=watched)
            )
            for upload in jsonio.loads(output.read_bytes())["uploads"]:
                if upload["status"] != wanted or not upload["sessions"]:
                    sys.exit(f"{path.name}: {upload}")
        return Visit(*runs)


def visit_agentsview(command: str) -> Callable[[Path, bool], Visit]:
    """``agentsview sync`` in a HOME of its own; its daemon is counted and stopped after each."""

    def visit(path: Path, watched: bool) -> Visit:
        with at_project(path) as (home, _):
            env = {"HOME": home, "PATH": os.environ["PATH"], "AGENTSVIEW_TELEMETRY_ENABLED": "0"}
            runs = []
            for _ in Visit._fields:
                run = timed([command, "sync"], env, Path(home) / "out.txt", home=home, watched=watched)
                runs.append(replace(run, cpu=run.cpu + sum(map(cpu_of, at_home(home)))))
                subprocess.run([command, "serve", "stop"], env=env, check=False, capture_output=True)
            return Visit(*runs)

    return visit


def visit_log(command: str) -> Callable[[Path, bool], Visit]:
    """``claude-code-log`` of a project's folder, which writes a page of HTML for all of it and one for each session."""

    def visit(path: Path, watched: bool) -> Visit:
        with at_project(path) as (home, project):
            env = {"HOME": home, "PATH": os.environ["PATH"]}
            return Visit(
                *(timed([command, str(project)], env, Path(home) / "out.txt", watched=watched) for _ in Visit._fields)
            )

    return visit


@contextmanager
def at_project(path: Path) -> Iterator[tuple[str, Path]]:
    """A new HOME with a project of Claude Code that holds the file, or each file of a folder."""
    with tempfile.TemporaryDirectory(prefix="ctxweb-bench-peer-", ignore_cleanup_errors=True) as home:
        project = Path(home) / ".claude" / "projects" / "-home-u-proj"
        project.mkdir(parents=True)
        for one in sorted(path.glob("*.jsonl")) if path.is_dir() else [path]:
            os.link(one, project / one.name) if same_disk(one, project) else shutil.copy(one, project)
        yield home, project


def same_disk(a: Path, b: Path) -> bool:
    """Whether a hard link is possible."""
    return a.stat().st_dev == b.stat().st_dev


def heading(tools: list[Tool], state: str) -> list[str]:
    """The head of one state's table."""
    others = [tool.name for tool in tools[1:]]
    cells = [
        "file, " + state, "processor time", *(f"{name}'s" for name in others),
        *(f"time ÷ {name}'s" for name in others), *(f"processor time ÷ {name}'s" for name in others),
        "peak memory", *(f"{name}'s" for name in others),
    ]  # fmt: skip
    return [f"| {' | '.join(cells)} |", "|---" * len(cells) + "|"]


def row_text(name: str, runs: list[list[Run]]) -> str:
    """One line of a table, in Markdown: for each tool its runs, the first of which was for memory."""
    cells = [name, *(f"{middle([run.cpu for run in one[1:]]):.1f} s" for one in runs)]
    for part in ("seconds", "cpu"):
        for peer in runs[1:]:
            pairs = [getattr(a, part) / getattr(b, part) for a, b in zip(runs[0][1:], peer[1:], strict=True)]
            cells.append(f"{middle(pairs):.2f}")
    cells += [f"{one[0].peak_mb:.0f} MB" for one in runs]
    return f"| {' | '.join(cells)} |"


def kept_notes() -> list[str]:
    """What people wrote below the tables."""
    said = REPORT.read_text(encoding="utf-8") if REPORT.exists() else ""
    return [said[said.index("\n## ") + 1 :].rstrip("\n")] if "\n## " in said else []


def report(tables: list[list[str]], runs: int, others: list[Tool]) -> str:
    """The page under docs/benchmarks."""
    fast = "with" if find_spec("toktok") else "without"
    beside = "; ".join(tool.version for tool in others) or "no other tool is installed here, so no ratio"
    return "\n".join(
        [
            "# Ingest",
            "",
            f"Made by `make bench` (medians of {runs} rounds in which all take turns, memory in a round of its own, "
            "each in a fresh data directory; starting Python and creating the database are counted).",
            "",
            f"- Machine: {os.cpu_count()} cores (load {os.getloadavg()[1]:.1f} with all that ran on it), "
            f"Python {platform.python_version()}, {platform.system()}, {fast} `ctxweb[fast]`",
            f"- Beside it: {beside}. `agentsview sync` indexes without tokenising; `claude-code-log` writes HTML",
            "- Cold: nothing is there. Warm: the same once more; nothing is new",
            "- Ratios of time hang on the load where there is any; those of processor time do less so.",
            f"- Memory: peak of the summed PSS of the process tree; budget {BUDGET_MB} MB for 100 MB",
            "- varied-100: hardly a line comes twice; messages-100000: many short messages; small-200: 200 files",
            "",
            *[line for table in tables for line in [*table, ""]],
            *kept_notes(),
            "",
        ]
    )
