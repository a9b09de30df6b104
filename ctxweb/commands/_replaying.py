"""What commands that replay share: their options, the chosen policy, the replay.  No database, no Django."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from ctxweb.amount import TOKENS
from ctxweb.commands._engine import FILE, POLICY_HELP, choose, files_argument, read, settings
from ctxweb.commands._patience import patience
from sessions.engine.base.errors import BadParameter, UnknownName
from sessions.engine.reading.texts import Texts
from sessions.engine.replays.initial_params import AS_RECORDED, STARTS
from sessions.engine.replays.replay import BASES, replay
from sessions.engine.weigh.calibration.calibrate import weigh

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sessions.engine.policies.policy import Policy
    from sessions.engine.replays.replay import Replay
    from sessions.engine.replays.summaries import Writer
    from sessions.engine.weigh.calibration.weighed import Weighed

WITHOUT_MODEL, WITH_MODEL = "recorded, stub:N or extractive.", "recorded, stub:N, extractive or anthropic."


start_option = click.option(
    "--start", type=click.Choice(STARTS), default=AS_RECORDED, show_default=True,
    help="Where parameters start: as the recording's client was, or the policy's defaults.",
)  # fmt: skip


def replay_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options that replay, diff and probe have in common; a model may write their summaries."""
    return _added(
        command,
        [
            click.option("--policy", help=POLICY_HELP),
            *_command_options(),
            *_shared_options(WITH_MODEL),
            *_model_options(),
        ],
    )


def compaction_option(what: str, *, default: int | None = None) -> Callable[..., Any]:
    """``--compaction``, counted from 1 as pages do, given to the command as ``event``, counted from 0 as JSON does.

    ``--event``, from 0, is taken as well.
    """

    def take(context: click.Context, option: click.Parameter, value: int | None) -> None:
        if value is not None:
            context.params["event"] = value - (option.name == "compaction")
        context.params.setdefault("event", default)

    def added(command: Callable[..., None]) -> Callable[..., None]:
        shown = " [default: 1]" if default == 0 else ""
        first = click.option("--compaction", type=click.IntRange(min=1), metavar="N", callback=take, expose_value=False,
                             help=f"{what}, from 1.{shown}")  # fmt: skip
        old = click.option(
            "--event", "from_0", type=click.IntRange(min=0), callback=take, expose_value=False, hidden=True
        )
        return first(old(command))

    return added


def _command_options() -> list[Callable[..., Any]]:
    return [
        click.option("--policy-cmd", metavar="CMD", help="Your own program as the policy: JSON in, the new list out."),
        click.option(
            "--policy-set", "own_pairs", multiple=True, metavar="KEY=VALUE", help="A parameter for your own program."
        ),
        click.option("--policy-timeout", type=click.FloatRange(min=0.01), default=10.0, show_default=True,
                     help="Seconds that your own program may take for an answer."),
        click.option("--policy-memory", type=click.IntRange(min=1), default=1_000, show_default=True,
                     help="Megabytes of memory that your own program may take."),
    ]  # fmt: skip


def chosen_policy(options: dict[str, Any]) -> str | Policy:
    """The policy that the options name: one of the registry, or a program; wrong usage for none or both."""
    name, command = options["policy"], options.get("policy_cmd")
    if bool(name) == bool(command):
        raise click.UsageError("give --policy or --policy-cmd, one of them")
    if not command:
        return str(name)
    from ctxweb.commands._policy_process import policy_of

    own = settings(options["own_pairs"], "--policy-set")
    return policy_of(command, options["policy_timeout"], options["policy_memory"], own)


def sweep_options(command: Callable[..., None]) -> Callable[..., None]:
    """The same with any number of policies."""
    policies = click.option(
        "--policy", "policies", required=True, multiple=True, help=f"{POLICY_HELP} Several are set side by side."
    )
    return _added(command, [policies, *_shared_options()])


def generations_options(command: Callable[..., None]) -> Callable[..., None]:
    """A session, and the policy to replay it under, none for its own compactions."""
    return _added(
        command,
        [
            click.option("--policy", help=f"{POLICY_HELP} Default: the compactions that were recorded."),
            *_session_options(),
            click.option("--window", type=TOKENS, help="Context window in tokens."),
            click.option("--set", "pairs", multiple=True, metavar="KEY=VALUE", help="A parameter of the policy."),
        ],
    )


def check_options(command: Callable[..., None]) -> Callable[..., None]:
    """The same over any number of files and folders."""
    corpus = click.argument("corpus", nargs=-1, required=True, type=click.Path())
    policy = click.option("--policy", help=POLICY_HELP)
    return _added(command, [corpus, policy, *_command_options(), _format_option(), *_replay_options()])


def _format_option() -> Callable[..., Any]:
    return click.option("--format", "format_name", help="Transcript format, instead of sniffing.")


def _shared_options(summarizers: str = WITHOUT_MODEL) -> list[Callable[..., Any]]:
    return [*_session_options(), *_replay_options(summarizers)]


def _session_options() -> list[Callable[..., Any]]:
    return [
        files_argument(),
        _format_option(),
        click.option("--session", help="Session id; default: the root session with most requests."),
        click.option("--branch", metavar="LEAF", help="A branch that a rewind left; default: the latest."),
    ]


def _replay_options(summarizers: str = WITHOUT_MODEL) -> list[Callable[..., Any]]:
    return [
        click.option("--base", type=click.Choice(BASES), default="full", show_default=True, help="Which history."),
        click.option("--estimator", help="Estimator the trigger counts with; see `ctxweb estimators`."),
        click.option("--summarizer", default="recorded", show_default=True, help=summarizers),
        click.option("--window", type=TOKENS, help="Context window in tokens."),
        click.option("--fail", default="", metavar="WHICH", help="Make summary calls fail: always, every:N, first:N."),
        click.option("--set", "pairs", multiple=True, metavar="KEY=VALUE", help="A parameter of the policy."),
        start_option,
    ]


def _model_options() -> list[Callable[..., Any]]:
    return [
        click.option("--yes", is_flag=True, help="With --summarizer anthropic: make the calls without asking."),
        click.option("--prompt", "prompt", type=FILE, help="With --summarizer anthropic: further instructions."),
    ]


def _added(command: Callable[..., None], options: list[Callable[..., Any]]) -> Callable[..., None]:
    for option in reversed(options):
        command = option(command)
    return command


def opened(file: Path, options: dict[str, Any]) -> tuple[Weighed, Texts]:
    """Read, choose and weigh the session that the options name, with a reader of its words."""
    parsed = read(file, options["format_name"], options["branch"])
    try:
        transcript = choose(parsed, options["session"])
    except BadParameter as error:
        raise click.UsageError(str(error)) from error
    return weigh(transcript), Texts(lambda: file.open("rb"), parsed.format)


def run_replay(file: Path, **options: Any) -> Replay:
    """Read, choose, weigh and replay; unknown names and bad values are wrong usage (exit status 2)."""
    policy = chosen_policy(options)
    weighed, texts = opened(file, options)

    def run(writer: Writer | None) -> Replay:
        return replay(
            weighed,
            policy,
            params=settings(options["pairs"]),
            base=options["base"],
            estimator=options["estimator"],
            summarizer=options["summarizer"],
            window=options["window"],
            texts=texts,
            fail=options["fail"],
            writer=writer,
            start=options["start"],
        )

    try:
        with closing(texts):
            if options["summarizer"] != "anthropic":
                with patience("Replaying"):
                    return run(None)
            from ctxweb.commands._summaries import with_summaries

            return with_summaries(run, yes=options["yes"], prompt=options["prompt"])
    except (BadParameter, UnknownName) as error:
        raise click.UsageError(str(error)) from error
