"""``ctxweb token``: personal tokens for programs that use the API."""

from __future__ import annotations

import click

from ctxweb.commands.user import account_named
from ctxweb.terminal import say, tell


@click.command()
@click.argument("name", required=False)
@click.option("--for", "account", metavar="ACCOUNT", help="The account that the token acts for.")
@click.option(
    "--scope", "scopes", multiple=True, type=click.Choice(("read", "upload", "share")),
    help="What it may be used for; several times for several. [default: read]",
)  # fmt: skip
@click.option("--days", type=click.IntRange(1, 3_650), help="How long it works; default: until it is revoked.")
@click.option("--list", "listed", is_flag=True, help="List the tokens that work.")
@click.option("--revoke", type=int, metavar="ID", help="End a token, by its number in --list.")
def command(
    name: str | None, *, account: str | None, scopes: tuple[str, ...], days: int | None, listed: bool,
    revoke: int | None,
) -> None:  # fmt: skip
    """Make a token called NAME and print it, once; we store only a hash."""
    if (name is not None) + listed + (revoke is not None) != 1:
        raise click.UsageError("Give a NAME, or --list, or --revoke ID.")
    from ctxweb.startup import start_django

    start_django()
    from django.conf import settings

    from sessions.services import tokens

    owner_id = account_named(account).pk if account is not None else None
    if listed:
        for one in tokens.tokens_of(owner_id):
            tell(f"{one.pk}\t{one.name}\t…{one.ending}\t{', '.join(one.scopes)}")
        return
    if revoke is not None:
        if not tokens.revoke_token(token_id=revoke, owner_id=owner_id):
            raise click.ClickException(f"There is no such token: {revoke}. List: `ctxweb token --list`.")
        say(f"Revoked token {revoke}.")
        return
    if owner_id is None and settings.REQUIRE_LOGIN:
        raise click.UsageError("This server has accounts. Say for whom: --for ACCOUNT.")
    made = tokens.make_token(name=name or "", scopes=scopes or ("read",), owner_id=owner_id, days=days)
    tell(made.secret)
    say(f"Token {made.token.pk} may {', '.join(made.token.scopes)}. Shown once.")
