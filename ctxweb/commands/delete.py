"""``ctxweb delete``: sessions and uploads with everything that belongs to them, after a look at what goes."""

from __future__ import annotations

import re
import sys
import uuid
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from ctxweb.env import expect_data
from ctxweb.startup import start_django
from ctxweb.terminal import say, tell_json

if TYPE_CHECKING:
    from sessions.services.deleting import Plan

SHOWN = 20
"""Sessions and uploads listed by name; the JSON document has all."""

AGE = re.compile(r"(\d{1,5})d?")


def _days(_context: click.Context, _parameter: click.Parameter, value: str | None) -> int | None:
    found = AGE.fullmatch(value or "0")
    if found is None:
        raise click.BadParameter(f"{value!r} is not a number of days. Write 30d.")
    return int(found[1]) if value else None


@click.command("delete")
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option("--upload", "uploads", multiple=True, metavar="ID", help="An upload with all its sessions; repeatable.")
@click.option("--older-than", "days", callback=_days, metavar="30d", help="All whose last message is older, in days.")
@click.option("--yes", is_flag=True, help="Delete without asking.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document; without --yes it only says what goes.")
def command(sessions: tuple[str, ...], uploads: tuple[str, ...], days: int | None, *, yes: bool, as_json: bool) -> None:
    """Delete sessions and uploads for good: rows, bytes, links, saved views, sweeps, summaries.

    SESSION and ID may be cut to any unique beginning. The ids are in the address of a session or of its import report.
    Subagents and left branches go with their session. Without --yes you see what goes and are asked.
    """
    if not sessions and not uploads and days is None:
        raise click.UsageError("Nothing to delete. Name sessions, or use --upload or --older-than.")
    expect_data()
    start_django()
    from sessions.pages.delete.context import document
    from sessions.services import deleting

    session_ids, upload_ids = _named(sessions, uploads)
    if days is not None:
        stale_sessions, stale_uploads = deleting.stale(days)
        session_ids, upload_ids = [*session_ids, *stale_sessions], [*upload_ids, *stale_uploads]
    plan = deleting.plan(sessions=session_ids, uploads=upload_ids)
    if not as_json:
        _show(plan)
    go = not plan.is_empty and (yes or (not as_json and _asked()))
    if go:
        plan = deleting.delete(sessions=session_ids, uploads=upload_ids)
    if as_json:
        tell_json(document(plan, deleted=go))
    elif go:
        say("Deleted.")
    sys.exit(1 if plan.refused else 0)


def _named(sessions: Iterable[str], uploads: Iterable[str]) -> tuple[list[str], list[uuid.UUID]]:
    from sessions.models import Session, Upload

    keys = list(Session.objects.values_list("pk", flat=True)) if sessions else []
    held = {str(pk): pk for pk in Upload.objects.values_list("pk", flat=True)} if uploads else {}
    return [_one(p, keys, "session") for p in sessions], [held[_one(p, held, "upload")] for p in uploads]


def _one(prefix: str, keys: Iterable[str], what: str) -> str:
    found = [key for key in keys if key.startswith(prefix.lower())] if prefix else []
    if len(found) == 1:
        return found[0]
    if found:
        some = ", ".join(sorted(found)[:3])
        raise click.UsageError(f"{len(found)} {what}s begin with `{prefix}`: {some} … Write more of the id.")
    raise click.UsageError(f"No {what} begins with `{prefix}`. The id is in the address of its page.")


def _show(plan: Plan) -> None:
    from sessions.pages.delete.context import what_goes, what_to_know

    rows = [f"  session {one.pk}  {one}" for one in plan.sessions]
    rows += [f"  upload  {one.pk}  {one.filename}" for one in plan.uploads]
    left = len(rows) - SHOWN
    lines = ["This goes:" if rows else "", *rows[:SHOWN], f"  … and {left:,} more" if left > 0 else ""]
    for line in (*lines, *what_goes(plan), *what_to_know(plan)):
        if line:
            say(line)


def _asked() -> bool:
    if not sys.stdin.isatty():
        raise click.UsageError("Nobody can be asked here, so nothing was deleted. Repeat it with --yes.")
    return click.confirm("Delete this for good?", err=True)
