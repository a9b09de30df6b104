"""``ctxweb apply``: a setting as the configuration of real agents."""

from __future__ import annotations

from pathlib import Path

import click

from ctxweb.commands._each import EachFile
from ctxweb.commands._engine import choose, emit, read, settings, wrong_usage
from ctxweb.commands._options import AS_JSON, POLICY_HELP, SETTINGS, TOKENS, files_argument
from ctxweb.terminal import say, tell
from sessions.engine.reports.configuration import Snippet, apply_document, configure
from sessions.engine.weigh.calibration.calibrate import weigh


@click.command("apply", cls=EachFile)
@files_argument(required=False)
@click.option("--policy", required=True, help=POLICY_HELP)
@SETTINGS
@click.option("--window", type=TOKENS, help="Context window in tokens; default: the model's.")
@click.option("--model", default="", help="The model, for its window; with FILE: the session's.")
@click.option("--session", help="With FILE: session id; default: the root session with most requests.")
@click.option("--for", "agents", multiple=True, metavar="AGENT", help="This agent only; repeat for several.")
@AS_JSON
def command(  # noqa: PLR0917
    file: Path | None, policy: str, pairs: tuple[str, ...], window: int | None, model: str, session: str | None,
    agents: tuple[str, ...], as_json: bool,
) -> None:  # fmt: skip
    """Write a policy's setting as the configuration of Claude Code, Codex, LangChain and other agents.

    With FILE the window, and what system prompt and tools take of it, are the session's.
    """
    params = settings(pairs)
    with wrong_usage():
        weighed = weigh(choose(read(file, None), session)) if file else None
        found = configure(policy, params, window=window, model=model, weighed=weighed, agents=agents)
    if as_json:
        emit(apply_document(policy, params, found))
        return
    alone = len(found) == 1
    for snippet in found:
        _print(snippet, alone=alone)


def _print(snippet: Snippet, *, alone: bool) -> None:
    """The configuration on standard output; of one agent alone what is not expressed goes to standard error."""
    agent, keys = snippet.agent, snippet.configuration
    remark = say if alone else tell
    remark(f"# {agent.label}: {keys.file}{' (exactly this policy)' if snippet.exact else ''}")
    remark(f"# keys: {keys.source}, {keys.checked}")
    for sentence in snippet.cannot:
        remark(f"# {sentence}")
    if snippet.text:
        tell(snippet.text.rstrip("\n"))
    if not alone:
        tell("")
