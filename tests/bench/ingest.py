"""Times ``ctxweb ingest`` and a peer on generated transcripts: ``make bench`` or ``python -m tests.bench``.

Every run starts in a fresh data directory.  Memory is the summed PSS of the process tree, read from
/proc/<pid>/smaps_rollup, so pages that processes share are counted once; it is measured in a run of its own, because
looking costs time.  Runs take turns with the peer's; ratios are medians of pairs, so that both meet the same load, and
the processor time of all processes stands beside the time that passed.  The generator of the files is
named by CTXWEB_BENCH_MAKER (default: ../shared/bench/make_transcripts.py), their folder by CTXWEB_BENCH_DATA.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from statistics import median as middle

from sessions.engine import jsonio

ROOT = Path(__file__).resolve().parents[2]
REPORT = ROOT / "docs" / "benchmarks" / "ingest.md"
FILES = {
    "text-10.jsonl": (), "text-100.jsonl": (), "images-100.jsonl": (), "small-200": (),
    "varied-100.jsonl": ("--mb", "100", "--varied"), "messages-100000.jsonl": ("--messages", "100000"),
}  # fmt: skip
"""Names of generated files and folders, with what the generator is told to make them."""
BUDGET_MB = 250
SAMPLE_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Run:
    """One timed command: seconds, those of processors, and the peak of the process tree's PSS in MB (10^6 bytes)."""

    seconds: float
    cpu: float
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
        rows.append(row_text(name, *measure(folder / name, peer, args.runs)))
        print(rows[-1], flush=True)
    if not args.no_report:
        REPORT.parent.mkdir(parents=True, exist_ok=True)
        REPORT.write_text(report(rows, args.runs, peer), encoding="utf-8")
        print(f"written: {REPORT.relative_to(ROOT)}")


def measure(path: Path, peer: str | None, runs: int) -> tuple[list[Run], list[Run]]:
    """One run each for memory, then ``runs`` for time, ours and the peer's in turn so that both meet the same load."""
    ours, theirs = [run_ctxweb(path, watched=True)], [run_agentsview(peer, path, watched=True)] if peer else []
    for _ in range(runs):
        ours.append(run_ctxweb(path))
        theirs += [run_agentsview(peer, path)] if peer else []
    return ours, theirs


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


def find_peer() -> str | None:
    """The path of agentsview: CTXWEB_BENCH_AGENTSVIEW, else from PATH, else None."""
    return os.environ.get("CTXWEB_BENCH_AGENTSVIEW") or shutil.which("agentsview")


def run_ctxweb(path: Path, *, watched: bool = False) -> Run:
    """``ctxweb ingest`` of one file into a new data directory, database creation included."""
    with tempfile.TemporaryDirectory(prefix="ctxweb-bench-") as data:
        env = {**os.environ, "CTXWEB_DATA": data, "DATABASE_URL": ""}
        output = Path(data) / "result.json"
        run = timed([sys.executable, "-m", "ctxweb", "ingest", str(path), "--json"], env, output, watched=watched)
        for upload in jsonio.loads(output.read_bytes())["uploads"]:
            if upload["status"] != "new" or not upload["sessions"]:
                sys.exit(f"{path.name}: {upload}")
        return run


def run_agentsview(peer: str, path: Path, *, watched: bool = False) -> Run:
    """``agentsview sync`` of the same file in a HOME of its own, started cold, its daemon counted and then stopped."""
    with tempfile.TemporaryDirectory(prefix="ctxweb-bench-peer-", ignore_cleanup_errors=True) as home:
        project = Path(home) / ".claude" / "projects" / "-home-u-proj"
        project.mkdir(parents=True)
        for one in sorted(path.glob("*.jsonl")) if path.is_dir() else [path]:
            os.link(one, project / one.name) if same_disk(one, project) else shutil.copy(one, project)
        env = {"HOME": home, "PATH": os.environ["PATH"], "AGENTSVIEW_TELEMETRY_ENABLED": "0"}
        run = timed([peer, "sync"], env, Path(home) / "out.txt", home=home, watched=watched)
        run = replace(run, cpu=run.cpu + sum(map(cpu_of, at_home(home))))
        subprocess.run([peer, "serve", "stop"], env=env, check=False, capture_output=True)
        return run


def same_disk(a: Path, b: Path) -> bool:
    """Whether a hard link is possible."""
    return a.stat().st_dev == b.stat().st_dev


def timed(command: list[str], env: dict[str, str], output: Path, home: str = "", *, watched: bool = False) -> Run:
    """Run a command to its end; ``watched``: its tree's memory, and that of processes whose HOME is ``home``."""
    done = threading.Event()
    peak = [0]
    started, used = time.perf_counter(), children_cpu()
    with output.open("wb") as out:
        process = subprocess.Popen(command, env=env, stdout=out, stderr=subprocess.PIPE)
        watcher = threading.Thread(target=watch, args=(process.pid, home, done, peak))
        if watched:
            watcher.start()
        _, errors = process.communicate()
    seconds, cpu = time.perf_counter() - started, children_cpu() - used
    done.set()
    if watched:
        watcher.join()
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}: {errors.decode(errors='replace')[-2000:]}")
    return Run(seconds, cpu, peak[0] / 1e6)


def children_cpu() -> float:
    """Processor seconds of all processes that were started here and have ended, and of those that they waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpu_of(pid: int) -> float:
    """Processor seconds of a running process and of those that it waited for, 0 for one that is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


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


def row_text(name: str, ours: list[Run], theirs: list[Run]) -> str:
    """One line of the table, in Markdown; the first run was for memory."""
    cells = [name, *(f"{middle([run.cpu for run in runs[1:]]):.1f} s" if runs else "-" for runs in (ours, theirs))]
    for part in ("seconds", "cpu"):
        pairs = [getattr(a, part) / getattr(b, part) for a, b in zip(ours[1:], theirs[1:], strict=False)]
        cells.append(f"{middle(pairs):.2f}" if pairs else "-")
    cells += [f"{runs[0].peak_mb:.0f} MB" if runs else "-" for runs in (ours, theirs)]
    return f"| {' | '.join(cells)} |"


def kept_notes() -> list[str]:
    """What people wrote below the table."""
    said = REPORT.read_text(encoding="utf-8") if REPORT.exists() else ""
    return [said[said.index("\n## ") + 1 :].rstrip("\n")] if "\n## " in said else []


def report(rows: list[str], runs: int, peer: str | None) -> str:
    """The page under docs/benchmarks."""
    version = subprocess.run([peer, "--version"], capture_output=True, text=True, check=False).stdout if peer else ""
    fast = "with" if find_spec("toktok") else "without"
    beside = version.strip().splitlines()[0] if version.strip() else "agentsview: not installed here, so no ratio"
    return "\n".join(
        [
            "# Ingest",
            "",
            f"Made by `make bench` (medians of {runs} pairs of runs in turn, memory in a run of its own, each in a "
            "fresh data directory; starting Python and creating the database are counted).",
            "",
            f"- Machine: {os.cpu_count()} cores (load {os.getloadavg()[1]:.1f} with all that ran on it), "
            f"Python {platform.python_version()}, {platform.system()}, {fast} `ctxweb[fast]`",
            f"- Beside it: {beside} (`agentsview sync`, cold; it indexes without tokenising)",
            "- Ratios of time hang on the load where there is any; those of processor time do less so.",
            f"- Memory: peak of the summed PSS of the process tree; budget {BUDGET_MB} MB for 100 MB",
            "- varied-100: hardly a line comes twice; messages-100000: many short messages; small-200: 200 files",
            "",
            "| file | processor time | agentsview's | ratio of time | of processor time | peak memory | agentsview's |",
            "|---|---|---|---|---|---|---|",
            *rows,
            "",
            *kept_notes(),
            "",
        ]
    )
