"""Runs a policy that is somebody's own program: a process per question, with limits of time and memory."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import click

from ctxweb.cores import held_megabytes
from sessions.engine.policies.command_policy import command_policy
from sessions.engine.policies.policy import EditFailed, Policy
from sessions.engine.reading.jsonio import loads

POLL_SECONDS = 0.02
ANSWER_BYTES = 256 * 1024 * 1024
WORDS = 400


def policy_of(command: str, timeout: float, megabytes: int, own: dict[str, object]) -> Policy:
    """The policy that asks ``command``; wrong usage where it cannot be split into words."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise click.UsageError(f"--policy-cmd cannot be read: {error}") from error
    if not words:
        raise click.UsageError("--policy-cmd names a program")

    def ask(document: dict[str, Any]) -> Any:
        return answer(words, document, timeout, megabytes)

    return command_policy(ask, f"your own: {Path(words[0]).name}", own)


def answer(words: list[str], document: dict[str, Any], timeout: float, megabytes: int) -> Any:
    """What the program answers; raises EditFailed with what went wrong and what it said last."""
    name = Path(words[0]).name
    try:
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
    except OSError as error:
        raise EditFailed(f"{name} cannot be started: {error.strerror or error}") from error
    watch = _Watch(process, timeout, megabytes)
    try:
        output, said = process.communicate(json.dumps(document).encode())
    finally:
        watch.stop()
    if watch.reason:
        raise EditFailed(f"{name} {watch.reason}{_last(said)}")
    if process.returncode:
        raise EditFailed(f"{name} ended with status {process.returncode}{_last(said)}")
    if len(output) > ANSWER_BYTES:
        raise EditFailed(f"{name} answered with more than {ANSWER_BYTES // 1024 // 1024} MiB")
    try:
        return loads(output)
    except ValueError as error:
        raise EditFailed(f"{name} did not answer with JSON: {error}{_last(said)}") from error


def _last(said: bytes) -> str:
    words = " ".join(said.decode("utf-8", "replace").split())
    return f"; it said: {words[-WORDS:]}" if words else ""


class _Watch:
    """Ends a process, and what it started, once it takes too long or too much memory."""

    def __init__(self, process: subprocess.Popen[bytes], timeout: float, megabytes: int) -> None:
        self.process, self.timeout, self.megabytes = process, timeout, megabytes
        self.reason = ""
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        ends = time.monotonic() + self.timeout
        while not self._done.wait(POLL_SECONDS):
            if time.monotonic() > ends:
                return self._end(f"took longer than {self.timeout:g} s")
            held = resident_megabytes(self.process.pid)
            if held is not None and held > self.megabytes:
                return self._end(f"took more than {self.megabytes:,} MB of memory")
        return None

    def _end(self, reason: str) -> None:
        self.reason = reason
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            self.process.kill()

    def stop(self) -> None:
        """The process has ended."""
        self._done.set()
        self._thread.join()


def resident_megabytes(pid: int) -> float | None:
    """Memory that a process holds now, None where the system does not say (or it has ended)."""
    found = held_megabytes(pid)
    if found is not None or Path("/proc/self").exists():
        return found
    try:
        told = subprocess.run(["/bin/ps", "-o", "rss=", "-p", str(pid)], capture_output=True, check=False, timeout=1)
        return int(told.stdout) * 1024 / 1_000_000
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
