"""Keeps ``ctxweb watch`` running beside the server while sessions of this machine are kept in sync."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

from ctxweb.beside import Place

END_SECONDS = 2.0


@dataclass(slots=True)
class Follower(Place):
    """The process that reads them: there is one exactly while something is chosen and not paused."""

    def look(self) -> None:
        """Start it, start it again, or end it, as the choice stands."""
        from django.conf import settings

        from sessions.adapters.synced import synced

        self.ended()
        chosen = synced(settings.DATA)
        if not chosen.is_chosen or chosen.paused:
            self.end()
        elif self.is_due:
            self.start("watch", stderr=subprocess.DEVNULL)

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
