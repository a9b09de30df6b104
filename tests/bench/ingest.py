"""Times ``ctxweb ingest`` and a peer on generated transcripts: ``make bench`` or ``python -m tests.bench``.

Every run starts in a fresh data directory.  Memory is the summed PSS of the process tree, read from
/proc/<pid>/smaps_rollup, so pages that processes share are counted once; it is measured in a run of its own, because
looking costs time.  The generator of the files is
named by CTXWEB_BENCH_MAKER (default: ../shared/bench/make_transcripts.py), their folder by CTXWEB_BENCH_DATA.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from sessions.engine import jsonio

ROOT = Path(__file__).resolve().parents[2]
REPORT = ROOT / "docs" / "benchmarks" / "ingest.md"
FILES = ("text-10.jsonl", "text-100.jsonl", "images-100.jsonl")
BUDGET_SECONDS = {"text-100.jsonl": 2.6, "images-100.jsonl": 1.0}
BUDGET_MB = 250
SAMPLE_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Run:
    """One timed command: wall seconds and the peak of the process tree's PSS in MB (10^6 bytes)."""

    seconds: float
    peak_mb: float


def main() -> None:
    """Make the files, run everything, print and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=3, help="runs per file; the median is reported")
    parser.add_argument("--files", nargs="*", default=FILES, help="names of generated files")
    parser.add_argument("--no-report", action="store_true", help="print only")
    args = parser.parse_args()
    folder = make_files()
    peer = find_peer()
    rows = []
    for name in args.files:
        ours, theirs = measure(folder / name, peer, args.runs)
        rows.append((name, ours, theirs))
        print(row_text(*rows[-1]), flush=True)
    if not args.no_report:
        REPORT.parent.mkdir(parents=True, exist_ok=True)
        REPORT.write_text(report(rows, args.runs, peer), encoding="utf-8")
        print(f"written: {REPORT.relative_to(ROOT)}")


def measure(path: Path, peer: str | None, runs: int) -> tuple[Run, Run | None]:
    """One run each for memory, then ``runs`` for time, ours and the peer's in turn so that both meet the same load."""
    ours, theirs = [run_ctxweb(path, watched=True)], [run_agentsview(peer, path, watched=True)] if peer else []
    for _ in range(runs):
        ours.append(run_ctxweb(path))
        theirs += [run_agentsview(peer, path)] if peer else []
    return summary(ours), summary(theirs) if theirs else None


def make_files() -> Path:
    """The folder with the generated files, made once."""
    maker = Path(os.environ.get("CTXWEB_BENCH_MAKER", ROOT.parent / "shared" / "bench" / "make_transcripts.py"))
    folder = Path(os.environ.get("CTXWEB_BENCH_DATA", ROOT / "bench-data"))
    if all((folder / name).exists() for name in FILES):
        return folder
    if not maker.exists():
        sys.exit(f"{maker} is missing: set CTXWEB_BENCH_MAKER to the generator, or CTXWEB_BENCH_DATA to its output")
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, str(maker), str(folder)], check=True, stdout=subprocess.DEVNULL)
    return folder


def find_peer() -> str | None:
    """The path of agentsview: CTXWEB_BENCH_AGENTSVIEW, else from PATH, else None."""
    return os.environ.get("CTXWEB_BENCH_AGENTSVIEW") or shutil.which("agentsview")


def run_ctxweb(path: Path, *, watched: bool = False) -> Run:
    """``ctxweb ingest`` of one file into a new data directory, database creation included."""
    with tempfile.TemporaryDirectory(prefix="ctxweb-bench-") as data:
        env = {**os.environ, "CTXWEB_DATA": data, "DATABASE_URL": ""}
        output = Path(data) / "result.json"
        run = timed([sys.executable, "-m", "ctxweb", "ingest", str(path), "--json"], env, output, watched=watched)
        (upload,) = jsonio.loads(output.read_bytes())["uploads"]
        if upload["status"] != "new" or not upload["sessions"]:
            sys.exit(f"{path.name}: {upload}")
        return run


def run_agentsview(peer: str, path: Path, *, watched: bool = False) -> Run:
    """``agentsview sync`` of the same file in a HOME of its own, started cold, its daemon counted and then stopped."""
    with tempfile.TemporaryDirectory(prefix="ctxweb-bench-peer-", ignore_cleanup_errors=True) as home:
        project = Path(home) / ".claude" / "projects" / "-home-u-proj"
        project.mkdir(parents=True)
        os.link(path, project / f"{path.stem}.jsonl") if same_disk(path, project) else shutil.copy(path, project)
        env = {"HOME": home, "PATH": os.environ["PATH"], "AGENTSVIEW_TELEMETRY_ENABLED": "0"}
        run = timed([peer, "sync"], env, Path(home) / "out.txt", home=home, watched=watched)
        subprocess.run([peer, "serve", "stop"], env=env, check=False, capture_output=True)
        return run


def same_disk(a: Path, b: Path) -> bool:
    """Whether a hard link is possible."""
    return a.stat().st_dev == b.stat().st_dev


def timed(command: list[str], env: dict[str, str], output: Path, home: str = "", *, watched: bool = False) -> Run:
    """Run a command to its end; ``watched``: its tree's memory, and that of processes whose HOME is ``home``."""
    done = threading.Event()
    peak = [0]
    started = time.perf_counter()
    with output.open("wb") as out:
        process = subprocess.Popen(command, env=env, stdout=out, stderr=subprocess.PIPE)
        watcher = threading.Thread(target=watch, args=(process.pid, home, done, peak))
        if watched:
            watcher.start()
        _, errors = process.communicate()
    seconds = time.perf_counter() - started
    done.set()
    if watched:
        watcher.join()
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}: {errors.decode(errors='replace')[-2000:]}")
    return Run(seconds, peak[0] / 1e6)


def watch(pid: int, home: str, done: threading.Event, peak: list[int]) -> None:
    """Keep the largest summed PSS in bytes until ``done``."""
    while not done.wait(SAMPLE_SECONDS):
        peak[0] = max(peak[0], sum(pss(member) for member in tree(pid) | at_home(home)))


def tree(pid: int) -> set[int]:
    """The process and all its descendants."""
    members, waiting = set(), [pid]
    while waiting:
        parent = waiting.pop()
        members.add(parent)
        for children in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                waiting += [int(child) for child in children.read_text().split()]
            except OSError:
                continue
    return members


def at_home(home: str) -> set[int]:
    """Processes started with this HOME (a daemon leaves the tree), none for an empty name."""
    if not home:
        return set()
    found = set()
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"HOME={home}\0".encode() in environ.read_bytes():
                found.add(int(environ.parent.name))
        except OSError:
            continue
    return found


def pss(pid: int) -> int:
    """Proportional set size in bytes, 0 for a process that is gone."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def summary(runs: list[Run]) -> Run:
    """The first run's memory and the median time of the others."""
    return Run(statistics.median(run.seconds for run in runs[1:]), runs[0].peak_mb)


def row_text(name: str, ours: Run, theirs: Run | None) -> str:
    """One line of the table, in Markdown."""
    budget = f"{BUDGET_SECONDS[name]:.1f} s" if name in BUDGET_SECONDS else "-"
    peer = f"{theirs.seconds:.2f} s | {theirs.peak_mb:.0f} MB" if theirs else "- | -"
    ratio = f"{ours.seconds / theirs.seconds:.2f}" if theirs else "-"
    return f"| {name} | {ours.seconds:.2f} s | {budget} | {ours.peak_mb:.0f} MB | {peer} | {ratio} |"


def report(rows: list[tuple[str, Run, Run | None]], runs: int, peer: str | None) -> str:
    """The page under docs/benchmarks."""
    version = subprocess.run([peer, "--version"], capture_output=True, text=True, check=False).stdout if peer else ""
    beside = version.strip().splitlines()[0] if version.strip() else "agentsview: not installed here, so no ratio"
    return "\n".join(
        [
            "# Ingest",
            "",
            f"Made by `make bench` (median time of {runs} runs, memory in a run of its own, each in a fresh data "
            "directory; the time includes starting Python and creating the database).",
            "",
            f"- Machine: {os.cpu_count()} cores (load {os.getloadavg()[1]:.1f} with all that ran on it), "
            f"Python {platform.python_version()}, {platform.system()}",
            f"- Beside it: {beside} (`agentsview sync`, cold; it indexes without tokenising)",
            f"- Memory: peak of the summed PSS of the process tree; budget {BUDGET_MB} MB for 100 MB",
            "",
            "| file | ctxweb ingest | budget | peak memory | agentsview sync | its peak memory | time ratio |",
            "|---|---|---|---|---|---|---|",
            *(row_text(*row) for row in rows),
            "",
        ]
    )
