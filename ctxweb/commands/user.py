"""``ctxweb user``: accounts for installations that others can reach."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import click

from ctxweb import address, datalock
from ctxweb.env import data_dir
from ctxweb.terminal import say, tell
from sessions.engine.base.words import counted

if TYPE_CHECKING:
    from django.contrib.auth.models import User


@click.command()
@click.argument("name", required=False)
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input instead of asking.")
@click.option("--invite", is_flag=True, help="Print an address that makes one account; NAME is for whom it is meant.")
@click.option(
    "--days", type=click.IntRange(1, 90), default=7, show_default=True, help="How long an invitation lets somebody in."
)
@click.option("--admin/--member", "is_admin", default=None, help="The role of NAME, or of whoever is invited.")
@click.option("--list", "listed", is_flag=True, help="List accounts, their roles and their sessions.")
@click.option("--remove", is_flag=True, help="Remove the account NAME; asks what becomes of its sessions.")
@click.option(
    "--sessions", "sessions_to", metavar="team|delete|NAME", help="With --remove: what becomes of its sessions."
)
def command(
    name: str | None,
    *,
    password_stdin: bool,
    invite: bool,
    days: int,
    is_admin: bool | None,
    listed: bool,
    remove: bool,
    sessions_to: str | None,
) -> None:
    """Create the account NAME, or give NAME a new password; NAME may sign in again at once.

    The first account is an admin's.
    """
    if sum((invite, listed, remove)) > 1:
        raise click.UsageError("Give one of --invite, --list and --remove.")
    if name is None and not (invite or listed):
        raise click.UsageError("Give a NAME, or --invite or --list.")
    if sessions_to is not None and not remove:
        raise click.UsageError("--sessions goes with --remove.")
    from ctxweb.startup import start_django

    start_django()
    if listed:
        _list()
    elif invite:
        _invite(name or "", days, is_admin=bool(is_admin))
    elif remove:
        _remove(account_named(name or ""), sessions_to)
    else:
        _password(name or "", from_stdin=password_stdin, is_admin=is_admin)


def account_named(name: str) -> User:
    """The account; raises ClickException where there is none."""
    from django.contrib.auth.models import User

    found = User.objects.filter(username=name).first()
    if found is None:
        raise click.ClickException(f"There is no account {name}. List: `ctxweb user --list`.")
    return found


def _list() -> None:
    from sessions.services import people

    for user, n_team, n_private in people.accounts():
        role = "admin" if user.is_superuser else "member"
        tell(f"{user}\t{role}\t{n_team} sessions of the team's\t{n_private} of their own")


def _invite(hint: str, days: int, *, is_admin: bool) -> None:
    from django.conf import settings

    from sessions.services import people

    made = people.invite(hint=hint, is_admin=is_admin, days=days)
    public = settings.PUBLIC_URL or datalock.public(data_dir())
    base = public or datalock.holder(data_dir()) or f"{address.url('127.0.0.1', address.DEFAULT_PORT)}/"
    tell(urljoin(base if base.endswith("/") else f"{base}/", f"join/{made.token}/"))
    role = "an admin" if is_admin else "a member"
    say(f"Makes one account, {role}'s, within {counted(days, 'day')}. Shown once.")
    if address.is_loopback(urlsplit(base).hostname or ""):
        say("Only this machine reaches it. Set CTXWEB_PUBLIC_URL to the address that others use.")
        if not settings.REQUIRE_LOGIN:
            say("It opens while the server asks for accounts: CTXWEB_REQUIRE_LOGIN=1.")


def _remove(user: User, sessions_to: str | None) -> None:
    from sessions.services import people

    held = people.holdings(user=user)
    say(
        f"{user} has {held.n_sessions} sessions ({held.n_private} of their own), {held.n_links} open links, "
        f"{held.n_saved} saved views, {held.n_tokens} tokens. Links, tokens and invitations end, saved views go."
    )
    if sessions_to is None:
        question = "What becomes of the sessions: team, delete, or the name of another account"
        sessions_to = click.prompt(question, err=True)
    heir = None if sessions_to in (people.TEAM, people.DELETE) else account_named(str(sessions_to))
    try:
        people.remove_account(user=user, sessions_to=str(sessions_to), heir=heir)
    except people.NotPossibleError as error:
        raise click.ClickException(str(error)) from None
    say(f"Removed {user}.")


def _password(name: str, *, from_stdin: bool, is_admin: bool | None) -> None:
    from django.contrib.auth.models import User
    from django.core.exceptions import ValidationError

    from ctxweb.signin import forget_attempts
    from sessions.services import people

    if from_stdin:
        password = sys.stdin.readline().rstrip("\n")
    else:
        password = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    user = User.objects.filter(username=name).first()
    is_new = user is None
    try:
        if user is None:
            first = not User.objects.exists() if is_admin is None else is_admin
            user = people.make_account(name=name, password=password, is_admin=first)
        else:
            people.set_password(user=user, password=password)
            if is_admin is not None:
                people.set_role(user=user, is_admin=is_admin)
    except (ValidationError, people.NotPossibleError) as error:
        raise click.ClickException(" ".join(getattr(error, "messages", [str(error)]))) from None
    forget_attempts(name)
    role = "admin" if user.is_superuser or is_admin else "member"
    changed = f"Changed the password of {name}. Sign-ins, tokens and invitations made by {name} ended."
    say(f"Created {name}, {role}." if is_new else changed)
