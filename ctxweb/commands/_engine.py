"""What the engine's commands share: options, reading a file, choosing a session.  No database, no Django."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctxweb.amount import TOKENS
from ctxweb.terminal import say
from sessions.engine.calibration.calibrate import weigh
from sessions.engine.errors import BadParameter, UnknownName
from sessions.engine.near import unknown
from sessions.engine.prices import prices_of
from sessions.engine.reading import read_transcripts
from sessions.engine.replay import BASES, replay
from sessions.engine.starting import AS_RECORDED, STARTS
from sessions.engine.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from sessions.engine.calibration.weighed import Weighed
    from sessions.engine.policy import Policy
    from sessions.engine.prices import Prices
    from sessions.engine.replay import Replay
    from sessions.engine.summaries import Writer
    from sessions.engine.types import Parsed, Transcript

POLICY_HELP = "Compaction policy; see `ctxweb policies`."
WITHOUT_MODEL, WITH_MODEL = "recorded, stub:N or extractive.", "recorded, stub:N, extractive or anthropic."
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
NAMES, SEVERAL = "ctxweb.names", "ctxweb.several"
"""Of a click context: what readers are told a file is called; where documents go while several files are read."""


def emit(document: dict[str, Any]) -> None:
    """One JSON document to standard output, or to the document of several files."""
    if not _kept(document):
        click.echo(json_text(document))


def write_csv(text: str) -> None:
    """A table to standard output, or to the table of several files."""
    if not _kept(text):
        click.echo(text, nl=False)


def _kept(document: Any) -> bool:
    context = click.get_current_context(silent=True)
    several = context.meta.get(SEVERAL) if context else None
    if several is not None:
        several.append(document)
    return several is not None


def name_of(file: Path) -> str:
    """What a file is called for those who read it: with its folders where these are known."""
    context = click.get_current_context(silent=True)
    found = context.meta.get(NAMES, {}).get(file) if context else None
    return found or file.name


def json_text(document: dict[str, Any]) -> str:
    """``document`` as JSON that standard output can take: escaped where its encoding, or UTF-8, has no such letter."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(document, separators=(",", ":"), allow_nan=False)
    return text


def use_own_models() -> None:
    """Have the user's own model table stand above the built-in one; what is wrong with it is wrong usage."""
    from ctxweb.env import env_str, models_path
    from sessions.adapters.models_file import use_models_in

    try:
        use_models_in(models_path(), named=bool(env_str("CTXWEB_MODELS")))
    except BadParameter as error:
        raise click.UsageError(str(error)) from error


def read(file: Path, format_name: str | None, branch: str | None = None, name: str = "") -> Parsed:
    """Parse one file, called ``name`` where its path does not say.

    What had to be skipped is said on standard error; a branch that is not there is wrong usage.
    """
    from ctxweb.commands._patience import patience

    use_own_models()
    size = file.stat().st_size
    with file.open("rb") as stream, patience(f"Reading {name or file.name}", lambda: stream.tell() / size):
        try:
            parsed = read_transcripts(stream, name or name_of(file), format=format_name, branch=branch)
        except BadParameter as error:
            raise click.UsageError(str(error)) from error
    for skipped in parsed.skipped:
        say(f"{file.name}: line {skipped.line}, byte {skipped.offset:,}: {skipped.reason}; skipped")
    return parsed


def choose(parsed: Parsed, session: str | None) -> Transcript:
    """The session called ``session``, else the root session with most requests, the first of equals."""
    if session is None:
        roots = [t for t in parsed.transcripts if t.parent_id is None] or list(parsed.transcripts)
        return max(roots, key=lambda t: len(t.requests))
    for transcript in parsed.transcripts:
        if transcript.id == session:
            return transcript
    raise BadParameter(unknown("session", session, [t.id for t in parsed.transcripts]))


def settings(pairs: tuple[str, ...], option: str = "--set") -> dict[str, object]:
    """``key=value`` pairs of an option as a mapping; wrong usage for one without ``=``."""
    values: dict[str, object] = {}
    for pair in pairs:
        key, found, value = pair.partition("=")
        if not found or not key:
            raise click.UsageError(f"{option} takes key=value, not {pair!r}")
        values[key.strip()] = value
    return values


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


def check_options(command: Callable[..., None]) -> Callable[..., None]:
    """The same over any number of files and folders."""
    corpus = click.argument("corpus", nargs=-1, required=True, type=click.Path())
    policy = click.option("--policy", help=POLICY_HELP)
    return _added(command, [corpus, policy, *_command_options(), _format_option(), *_replay_options()])


def price_option(command: Callable[..., None]) -> Callable[..., None]:
    """``--price``, for commands that show dollars."""
    return click.option(
        "--price",
        "prices",
        multiple=True,
        metavar="KEY=USD",
        help="Dollars per million tokens instead of the list price: input, output, cache_read, cache_write, "
        "cache_write_1h.",
    )(command)


def files_argument(*, required: bool = True) -> Callable[..., Any]:
    """The argument of a command of class ``EachFile``, which gives its callback one ``file`` at a time."""
    return click.argument("files", nargs=-1, required=required, metavar="FILE...", type=click.Path())


def _format_option() -> Callable[..., Any]:
    return click.option("--format", "format_name", help="Transcript format, instead of sniffing.")


def _shared_options(summarizers: str = WITHOUT_MODEL) -> list[Callable[..., Any]]:
    return [
        files_argument(),
        _format_option(),
        click.option("--session", help="Session id; default: the root session with most requests."),
        click.option("--branch", metavar="LEAF", help="A branch that a rewind left; default: the latest."),
        *_replay_options(summarizers),
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


def given_prices(weighed: Weighed, pairs: tuple[str, ...]) -> Prices | None:
    """List prices with those of ``--price`` in their place; wrong usage for what is no price."""
    given: dict[str, float] = {}
    for pair in pairs:
        key, found, value = pair.partition("=")
        try:
            given[key.strip()] = float(value)
        except ValueError:
            found = ""
        if not found:
            raise click.UsageError(f"--price takes key=dollars, not {pair!r}")
    try:
        return prices_of(weighed.model, given)
    except BadParameter as error:
        raise click.UsageError(str(error)) from error


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

    from ctxweb.commands._patience import patience

    try:
        with closing(texts):
            if options["summarizer"] != "anthropic":
                with patience("Replaying"):
                    return run(None)
            from ctxweb.commands._summaries import with_summaries

            return with_summaries(run, yes=options["yes"], prompt=options["prompt"])
    except (BadParameter, UnknownName) as error:
        raise click.UsageError(str(error)) from error


def warn(warnings: tuple[str, ...]) -> None:
    """Warnings on standard error, one a line."""
    for warning in warnings:
        say(f"Warning: {warning}")
