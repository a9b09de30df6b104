"""Files that are written, cut, rotated and rewritten while ``ctxweb watch`` follows them."""

from __future__ import annotations

import hashlib
import random
import time
from typing import TYPE_CHECKING

from tests.faults import outcome
from tests.faults.figures import Figure, exactly, none
from tests.faults.files import transcript
from tests.faults.place import place

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faults.figures import Size
    from tests.faults.grounds import Ground
    from tests.faults.place import Place

STEPS = ("append", "half a line", "cut", "rotate", "rewrite in place", "replace")
FIRST_MESSAGES, ADDED = 6, 4
HALF_SECONDS = 1.0
"""Long enough for the watcher to see half a line."""


def run(size: Size, ground: Ground) -> list[Figure]:
    """``size.watched_steps`` changes to one file; after each, what is stored must be what the file holds."""
    with place(ground) as here:
        here.migrate()
        folder = here.data.parent / "watched"
        folder.mkdir()
        log = _Log(folder / "agent.jsonl")
        log.begin()
        watcher = here.start("watch", str(folder), "--json")
        wrong = []
        rng = random.Random(size.seed)
        steps = [STEPS[n] if n < len(STEPS) else rng.choice(STEPS) for n in range(size.watched_steps)]
        here.until(lambda: _agrees(here, log.path), "the file is stored")
        for n, step in enumerate(steps):
            log.change(step)
            try:
                here.until(lambda: _agrees(here, log.path), f"step {n}, {step}, is stored", patience=60)
            except AssertionError:
                wrong.append(f"change {n}, {step}")
            assert watcher.poll() is None, here.output()[-3000:]
        rotated = [path for path in folder.iterdir() if path != log.path]
        here.until(lambda: all(_agrees(here, path) for path in rotated), "rotated files are stored")
        return [
            exactly("changes", len(steps), size.watched_steps),
            none("changes after which something else was stored", wrong),
            exactly("rotated files, each stored as a file of its own", len(rotated), len(rotated)),
            Figure(
                "the watcher runs at the end", "yes" if watcher.poll() is None else "no", "yes", watcher.poll() is None
            ),
            *outcome.integrity(here),
        ]


def _agrees(here: Place, path: Path) -> bool:
    """Whether what is stored for ``path`` is what it holds: its bytes, and a message for each line."""
    found = here.rows(
        "select u.sha256, (select sum(s.n_messages) from agent_sessions_sessionfacts f join agent_sessions_session s "
        "on s.id = f.session_id where s.upload_id = u.id) from agent_sessions_livesource l "
        f"join agent_sessions_upload u on u.id = l.upload_id where l.path = '{path}'"
    )
    data = path.read_bytes()
    return found == [(hashlib.sha256(data).hexdigest(), data.count(b"\n"))]


class _Log:
    """The file that an agent writes; ``whole`` are its finished lines."""

    def __init__(self, path: Path) -> None:
        self.path, self.n_sessions = path, 0
        self.whole: list[str] = []

    def begin(self) -> None:
        """A new session from its first message on, in the same file."""
        self.n_sessions += 1
        self._fresh()
        self._write("w")

    def change(self, step: str) -> None:
        """One of STEPS."""
        if step == "append":
            self._add(ADDED)
        elif step == "half a line":
            self._add(1, ending="")
            time.sleep(HALF_SECONDS)
            self._add_end()
        elif step == "cut":
            self.whole = self.whole[: max(2, len(self.whole) // 2)]
            self._write("r+")
        elif step == "rotate":
            self.path.rename(self.path.with_name(f"agent-{self.n_sessions}.jsonl"))
            self.begin()
        elif step == "rewrite in place":
            self.begin()
        else:
            self.n_sessions += 1
            self._fresh()
            draft = self.path.with_name(".draft")
            draft.write_text("".join(self.whole), encoding="utf-8")
            draft.replace(self.path)

    def _fresh(self) -> None:
        lines = transcript(self.n_sessions, 30_000).data.decode().splitlines(keepends=True)
        self.whole = lines[:FIRST_MESSAGES]

    def _add(self, n_lines: int, ending: str = "\n") -> None:
        start = len(self.whole)
        roles = ("user", "assistant")
        lines = [
            f'{{"role": "{roles[n % 2]}", "content": "{n} of {self.n_sessions}, added"}}\n'
            for n in range(start, start + n_lines)
        ]
        self.whole += lines
        with self.path.open("a", encoding="utf-8") as file:
            file.write("".join(lines) if ending else "".join(lines)[:20])

    def _add_end(self) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(self.whole[-1][20:])

    def _write(self, mode: str) -> None:
        with self.path.open(mode, encoding="utf-8") as file:
            file.truncate(0)
            file.write("".join(self.whole))
