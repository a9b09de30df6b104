"""What commands that replay share: their options, the chosen policy, the replay.  No database, no Django."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctxweb.commands import _options
from ctxweb.commands._engine import FILE, choose, read, settings, wrong_usage
from ctxweb.cores import held_megabytes
from ctxweb.terminal import patience, progress, say
from sessions.engine.policies.command_policy import command_policy
from sessions.engine.policies.policy import EditFailed, Policy
from sessions.engine.reading.jsonio import loads
from sessions.engine.reading.texts import Texts
from sessions.engine.replays.initial_params import AS_RECORDED, STARTS
from sessions.engine.replays.replay import BASES, Replay, replay
from sessions.engine.weigh.calibration.calibrate import weigh
from sessions.engine.weigh.calibration.weighed import Weighed

if TYPE_CHECKING:
    from sessions.engine.replays.summaries import Writer
    from sessions.services.model_summaries import Wanted


START = click.option(
    "--start", type=click.Choice(STARTS), default=AS_RECORDED, show_default=True,
    help="Where parameters start: as the recording's client was, or the policy's defaults.",
)  # fmt: skip
SESSION_OPTIONS = (_options.files_argument(), _options.FORMAT, _options.SESSION, _options.BRANCH)
POLICY_OR_PROGRAM = (
    _options.POLICY,
    click.option("--policy-cmd", metavar="CMD", help="Your own program as the policy: JSON in, the new list out."),
    click.option(
        "--policy-set", "own_pairs", multiple=True, metavar="KEY=VALUE", help="A parameter for your own program."
    ),
    click.option("--policy-timeout", type=click.FloatRange(min=0.01), default=10.0, show_default=True,
                 help="Seconds that your own program may take for an answer."),
    click.option("--policy-memory", type=click.IntRange(min=1), default=1_000, show_default=True,
                 help="Megabytes of memory that your own program may take."),
)  # fmt: skip


def how_replayed(summarizers: str = "recorded, stub:N or extractive.") -> tuple[_options.Option, ...]:
    """How every policy is replayed: ``replayed`` reads them."""
    return (
        click.option("--base", type=click.Choice(BASES), default="full", show_default=True, help="Which history."),
        _options.ESTIMATOR,
        click.option("--summarizer", default="recorded", show_default=True, help=summarizers),
        _options.WINDOW,
        click.option("--fail", default="", metavar="WHICH", help="Make summary calls fail: always, every:N, first:N."),
        _options.SETTINGS,
        START,
    )


replay_options = _options.takes(
    *POLICY_OR_PROGRAM, *SESSION_OPTIONS, *how_replayed("recorded, stub:N, extractive or anthropic."),
    click.option("--yes", is_flag=True, help="With --summarizer anthropic: make the calls without asking."),
    click.option("--prompt", "prompt", type=FILE, help="With --summarizer anthropic: further instructions."),
)  # fmt: skip
"""What replay, diff and probe have in common; a model may write their summaries."""


def compaction_option(what: str, *, default: int | None = None) -> Callable[..., Any]:
    """``--compaction``, from 1 as on pages; the command is given it as ``event``, from 0 as in JSON."""
    shown = " [default: 1]" if default == 0 else ""
    return click.option(
        "--compaction", "event", type=click.IntRange(min=1), metavar="N", help=f"{what}, from 1.{shown}",
        callback=lambda _context, _option, value: default if value is None else value - 1,
    )  # fmt: skip


def chosen_policy(options: dict[str, Any]) -> str | Policy:
    """The policy that the options name: one of the registry, or a program; wrong usage for none or both."""
    name, command = options["policy"], options.get("policy_cmd")
    if bool(name) == bool(command):
        raise click.UsageError("give --policy or --policy-cmd, one of them")
    if not command:
        return str(name)
    own = settings(options["own_pairs"], "--policy-set")
    return policy_of(command, options["policy_timeout"], options["policy_memory"], own)


def opened(file: Path, options: dict[str, Any]) -> tuple[Weighed, Texts]:
    """Read, choose and weigh the session that the options name, with a reader of its words."""
    parsed = read(file, options["format_name"], options["branch"])
    with wrong_usage():
        transcript = choose(parsed, options["session"])
    return weigh(transcript), Texts(lambda: file.open("rb"), parsed.format)


def replayed(
    weighed: Weighed, policy: str | Policy, options: dict[str, Any], texts: Texts, writer: Writer | None = None
) -> Replay:
    """The replay that the options ask for."""
    how = {name: options[name] for name in ("base", "estimator", "summarizer", "window", "fail", "start")}
    return replay(weighed, policy, params=settings(options["pairs"]), texts=texts, writer=writer, **how)


def run_replay(file: Path, **options: Any) -> Replay:
    """Read, choose, weigh and replay; unknown names and bad values are wrong usage (exit status 2)."""
    policy = chosen_policy(options)
    weighed, texts = opened(file, options)
    with wrong_usage(), texts:
        if options["summarizer"] != "anthropic":
            with patience("Replaying"):
                return replayed(weighed, policy, options, texts)
        return with_summaries(
            lambda writer: replayed(weighed, policy, options, texts, writer),
            yes=options["yes"], prompt=options["prompt"],
        )  # fmt: skip


def with_summaries(run: Callable[[Writer | None], Replay], *, yes: bool, prompt: Path | None) -> Replay:
    """The replay with its summaries, those written before from the database; the rest after a confirmation."""
    from ctxweb.startup import start_django

    start_django()
    from django.conf import settings

    from sessions.services.model_access import environment_access
    from sessions.services.model_summaries import SummaryWriter

    model, instructions = settings.ANTHROPIC_MODEL, prompt.read_text(encoding="utf-8") if prompt else ""
    looking = SummaryWriter(model, instructions=instructions)
    made = run(looking)
    if not looking.wanted:
        return made
    access = environment_access()
    if access is None:
        raise click.ClickException(
            f"{_n_summaries(looking.wanted)} not written yet, and there is no key to have them written: set "
            "ANTHROPIC_API_KEY, or take --summarizer extractive, which needs no model"
        )
    _confirm(model, tuple(looking.wanted), yes=yes)
    writing = SummaryWriter(model, instructions=instructions, access=access, on_progress=_progress)
    try:
        return run(writing)
    finally:
        if writing.n_written:
            say(f"{writing.n_written} written and kept; they will not be asked for again")


def _confirm(model: str, wanted: tuple[Wanted, ...], *, yes: bool) -> None:
    """Say what it takes; go on after a yes.  Where nobody can be asked, ``--yes`` has to be given."""
    from sessions.services.model_summaries import estimate

    say(f"{_n_summaries(wanted)} not written yet: {estimate(model, wanted).words} (estimated).")
    say("The text of the messages that are dropped goes to the provider.")
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("give --yes to make these calls where nobody can be asked")
    click.confirm("Make these calls?", abort=True, err=True)


def _n_summaries(wanted: list[Wanted] | tuple[Wanted, ...]) -> str:
    return "1 summary is" if len(wanted) == 1 else f"{len(wanted)} summaries are"


def _progress(n_written: int, n_chars: int) -> None:
    """One line that is written over on a terminal; elsewhere one line per summary."""
    if sys.stderr.isatty():
        end = "\n" if not n_chars else ""
        progress(f"summary {n_written + bool(n_chars)}: {n_chars:,} characters", end=end)
    elif not n_chars:
        say(f"summary {n_written} written")


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
