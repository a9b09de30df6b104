"""``ctxweb serve``: the dashboard and its worker, from nothing to the first page with one command."""

from __future__ import annotations

import http.client
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ctxweb import address
from ctxweb.beside import BackOff, interrupt
from ctxweb.terminal import say, tell

if TYPE_CHECKING:
    from granian.server.mp import MPServer
    from granian.server.mt import MTServer

    from ctxweb.supervisor import Supervisor

SAY_SECONDS = 30.0
"""How often it is said that the server does not answer yet."""

HEAD_START_SECONDS = 5.0
"""How long the workers wait for the server's first answer."""

STOP_SECONDS = 3
"""How long requests under way have to end."""


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--share", is_flag=True, help="Let others on your network open replay links; all else asks for an account."
)
@click.option("--port", type=click.IntRange(1, 65535), help="Port. [default: 8400, or the next free one]")
@click.option("--demo", is_flag=True, help="Store the demo session, too.")
@click.option(
    "--processes", type=click.IntRange(1, 64), help="Processes that answer requests. [default: CTXWEB_SERVER_PROCESSES]"
)
@click.option(
    "--unsafe-allow-unauthenticated",
    "unsafe",
    is_flag=True,
    help="Serve beyond this machine without accounts: whoever reaches the port reads every transcript.",
)
def command(
    host: str, port: int | None, *, share: bool, demo: bool, processes: int | None = None, unsafe: bool,
    then: Sequence[str] = (),
) -> None:  # fmt: skip
    """Migrate the database, start a worker and the server, print the address; Ctrl-C ends all of it."""
    then = ("demo",) if demo else then  # the command of ctxweb that is run once the server answers
    if share:
        os.environ["CTXWEB_REQUIRE_LOGIN"] = "1"
        host = "0.0.0.0" if host == "127.0.0.1" else host  # noqa: S104
    _guard(host, unsafe=unsafe)
    signal.signal(signal.SIGTERM, interrupt)
    port = _choose_port(host, port)
    _allow_names(host)
    if share and not os.environ.get("CTXWEB_PUBLIC_URL"):
        os.environ["CTXWEB_PUBLIC_URL"] = address.shared_url(host, port)
    if processes is not None:
        os.environ["CTXWEB_SERVER_PROCESSES"] = str(processes)
    from ctxweb import datalock
    from ctxweb.env import data_dir
    from sessions.adapters import memory

    try:
        public = os.environ.get("CTXWEB_PUBLIC_URL", "")
        with datalock.held(data_dir(), address.url(host, port), public), memory.held(data_dir()):
            _prepare()
            _run(host, port, then)
    except datalock.InUse as error:
        raise click.ClickException(str(error)) from None
    except KeyboardInterrupt:
        say("Stopped.")


def _guard(host: str, *, unsafe: bool) -> None:
    """Refuse to leave loopback unless users sign in or the caller insists."""
    from ctxweb.env import env_bool

    if address.is_loopback(host) or env_bool("CTXWEB_REQUIRE_LOGIN"):
        return
    if not unsafe:
        raise click.UsageError(
            f"{host} can be reached from other machines. Set CTXWEB_REQUIRE_LOGIN=1 and create a user with "
            "`ctxweb user NAME`, or pass --unsafe-allow-unauthenticated."
        )
    os.environ["CTXWEB_UNSAFE"] = "1"
    click.secho(f"WARNING: anybody who reaches {host} can read and add transcripts.", fg="red", bold=True, err=True)


def _choose_port(host: str, port: int | None) -> int:
    """The port asked for, which must be free; without one, the default or the next free one."""
    if port is not None:
        if not address.is_free(host, port):
            raise click.ClickException(f"Port {port} on {host} is taken. Leave out --port to use the next free one.")
        return port
    try:
        chosen = address.free_port(host)
    except OSError as error:
        raise click.ClickException(str(error)) from None
    if chosen != address.DEFAULT_PORT:
        say(f"Port {address.DEFAULT_PORT} is taken; using {chosen}.")
    return chosen


def _allow_names(host: str) -> None:
    """Let the names that lead to ``host`` in, unless CTXWEB_ALLOWED_HOSTS lists them."""
    if not os.environ.get("CTXWEB_ALLOWED_HOSTS"):
        names = ["127.0.0.1", "localhost", "[::1]", *([] if address.is_loopback(host) else address.names_of(host))]
        os.environ["CTXWEB_ALLOWED_HOSTS"] = ",".join(names)


def _prepare() -> None:
    from ctxweb.startup import collect_static, load_django, migrate

    load_django()
    from django.conf import settings
    from django.core.checks import ERROR, WARNING, run_checks

    from sessions.adapters.leftovers import sweep_leftovers

    checks = run_checks()
    for check in checks:
        if check.level == WARNING and (check.id or "").startswith("ctxweb."):
            say(f"Warning: {check.msg} {check.hint or ''}")
    problems = [check for check in checks if check.level >= ERROR]
    if problems:
        raise click.ClickException("\n".join(f"{problem.msg} {problem.hint or ''}" for problem in problems))
    migrate()
    collect_static()
    sweep_leftovers()
    if settings.REQUIRE_LOGIN:
        from django.contrib.auth.models import User

        if not User.objects.exists():
            say("Nobody can sign in yet: create a user with `ctxweb user NAME`.")


def _run(host: str, port: int, then: Sequence[str]) -> None:
    from django.conf import settings

    from ctxweb.supervisor import Follower, Supervisor

    # The default on Linux, fork, would copy locks and database connections of a process that has threads.
    multiprocessing.set_start_method("spawn", force=True)
    os.environ["CTXWEB_SERVER_PID"] = str(os.getpid())  # whom ctxweb.serving must not outlive
    supervisor = Supervisor(settings.WORKER_PROCESSES, Follower() if settings.FINDS_SESSIONS else None)
    answered = threading.Event()
    keeper = threading.Thread(target=_supervise, args=(supervisor, answered), name="supervisor", daemon=True)
    threading.Thread(target=_announce, args=(host, port, answered, then), daemon=True).start()
    try:
        keeper.start()
        _serve(host, port, supervisor)
    finally:
        signal.signal(signal.SIGTERM, interrupt)
        signal.signal(signal.SIGINT, interrupt)
        supervisor.stop()
        keeper.join()
    say("Stopped.")


def _serve(host: str, port: int, supervisor: Supervisor) -> None:
    """Answer requests until told to stop: granian gives up where its process ends twice within seconds."""
    back_off = BackOff()
    while not supervisor.stopping.is_set():
        begun = time.monotonic()
        try:
            _server(host, port, supervisor).serve()
        except SystemExit:
            if supervisor.stopping.is_set():
                raise
            pause = back_off.after(time.monotonic() - begun)
            say(f"A process for requests ended twice in a row; starting anew in {pause:.0f} s.")
            supervisor.stopping.wait(pause)


def _server(host: str, port: int, supervisor: Supervisor) -> MPServer | MTServer:
    """A server that has the workers begin to end together with it."""
    from django.conf import settings
    from granian import Granian
    from granian.constants import Interfaces, Loops
    from granian.log import LogLevels

    server = Granian(
        "ctxweb.serving:application",
        address=host,
        port=port,
        interface=Interfaces.ASGINL,  # ctxweb.front, with threads of its own
        loop=Loops.asyncio,
        respawn_failed_workers=True,
        workers=settings.SERVER_PROCESSES,
        workers_kill_timeout=STOP_SECONDS,
        websockets=False,
        log_level=LogLevels.error,
    )
    interrupted = server.signal_handler_interrupt

    def stop_both(*args: Any, **kwargs: Any) -> None:
        """The workers begin to end together with the server."""
        supervisor.stop()
        interrupted(*args, **kwargs)  # type: ignore[no-untyped-call]

    server.signal_handler_interrupt = stop_both  # type: ignore[method-assign]
    return server


def _supervise(supervisor: Supervisor, answered: threading.Event) -> None:
    """Run the workers; they wait a moment for the server, so that the page comes first, but never depend on it."""
    begun = time.monotonic()
    while not (answered.wait(0.1) or supervisor.stopping.is_set()):
        if time.monotonic() - begun > HEAD_START_SECONDS:
            break
    supervisor.run()


def _announce(host: str, port: int, answered: threading.Event, then: Sequence[str]) -> None:
    """Print the address once the server answers on it, however long that takes; then run a command of ctxweb."""
    begun = said = time.monotonic()
    while not _answers(address.reachable(host), port):
        if time.monotonic() - said > SAY_SECONDS:
            said = time.monotonic()
            say(f"No answer on {address.url(host, port)} for {said - begun:.0f} s; still trying.")
        time.sleep(0.05)
    answered.set()
    from django.conf import settings

    below = (settings.FORCE_SCRIPT_NAME or "").lstrip("/")
    tell(f"ctxweb is at {address.url(host, port)}{below}{'/' if below else ''}  (Ctrl-C stops it)")
    if settings.PUBLIC_URL:
        tell(f"Links begin with {settings.PUBLIC_URL}")
    sys.stdout.flush()
    if then:
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        subprocess.run([sys.executable, "-P", "-m", "ctxweb", *then], env=env, stdout=sys.stderr, check=False)


def _answers(host: str, port: int) -> bool:
    """Whether the server answers under a name that it lets in: CTXWEB_ALLOWED_HOSTS may leave out localhost."""
    from django.conf import settings

    known = next((name for name in settings.ALLOWED_HOSTS if name != "*"), "localhost").lstrip(".")
    connection = http.client.HTTPConnection(host, port, timeout=2)
    try:
        connection.request("GET", "/healthz", headers={"Host": known})
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()
