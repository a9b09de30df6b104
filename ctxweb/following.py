"""Keeps ``ctxweb watch`` running beside the server while sessions of this machine are kept in sync."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass, field

from ctxweb import beside
from ctxweb.backoff import BackOff

END_SECONDS = 2.0


@dataclass(slots=True)
class Follower:
    """The process that reads them: there is one exactly while something is chosen and not paused."""

    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    back_off: BackOff = field(default_factory=BackOff)
    next_start: float = 0.0

    def look(self) -> None:
        """Start it, start it again, or end it, as the choice stands."""
        from django.conf import settings

        from sessions.adapters.synced import synced

        if self.process is not None and self.process.poll() is not None:
            self.process = None
            self.next_start = time.monotonic() + self.back_off.after(time.monotonic() - self.started)
        chosen = synced(settings.DATA)
        if not chosen.is_chosen or chosen.paused:
            self.end()
        elif self.process is None and time.monotonic() >= self.next_start:
            self._start()

    def end(self) -> None:
        """End it; what it was reading stays as it was."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def _start(self) -> None:
        self.process = beside.start("watch", "--parent", str(os.getpid()), stderr=subprocess.DEVNULL)
        self.started = time.monotonic()
