"""The worker that ``ctxweb serve`` keeps running beside the server, as a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import click

TERM_SECONDS, QUIT_SECONDS = 15.0, 5.0
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
STEADY_SECONDS = 60.0


class WorkerChild:
    """Starts ``ctxweb worker``, starts it again when it dies, and ends it.

    The child has a session of its own, so Ctrl-C in the terminal reaches only the server, which then ends the child:
    TERM (it finishes its task; an idle worker takes 2 to 5 s to notice), after 15 s QUIT (it gives its task back),
    after 5 s more KILL to it and its children.
    """

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._keeper = threading.Thread(target=self._keep, name="worker-keeper", daemon=True)

    def start(self) -> None:
        """Start the worker and keep one running from now on."""
        self._keeper.start()

    def stop(self) -> None:
        """End the worker and wait for it."""
        self._stopping.set()
        if self._keeper.is_alive():
            self._keeper.join()
        process = self._process
        if process is None:
            return
        try:
            if _ended_by(process, signal.SIGTERM, TERM_SECONDS) or _ended_by(process, signal.SIGQUIT, QUIT_SECONDS):
                return
        except KeyboardInterrupt:
            click.echo("Not waiting for the worker.", err=True)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _keep(self) -> None:
        pause = FIRST_PAUSE
        while not self._stopping.is_set():
            started = time.monotonic()
            process = self._process = _spawn()
            while process.poll() is None:
                if self._stopping.wait(0.2):
                    return
            pause = FIRST_PAUSE if time.monotonic() - started > STEADY_SECONDS else min(pause * 2, LONGEST_PAUSE)
            click.echo(f"The worker ended with status {process.returncode}; starting another.", err=True)
            self._stopping.wait(pause)


def _spawn() -> subprocess.Popen[bytes]:
    # The parent's import path is handed on as it is: the child finds the same code whatever folder it starts in.
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-P", "-m", "ctxweb", "worker", "--parent", str(os.getpid())]
    return subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, start_new_session=True)


def _ended_by(process: subprocess.Popen[bytes], signum: signal.Signals, patience: float) -> bool:
    if process.poll() is not None:
        return True
    process.send_signal(signum)
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        return False
    return True
