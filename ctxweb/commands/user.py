"""``ctxweb user``: accounts for installations that others can reach."""

from __future__ import annotations

import sys

import click


@click.command()
@click.argument("name")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input instead of asking.")
def command(name: str, *, password_stdin: bool) -> None:
    """Create the user NAME, or give NAME a new password; NAME may sign in again at once."""
    from ctxweb.startup import load_django, migrate

    load_django()
    migrate()
    from django.contrib.auth.models import User
    from django.contrib.auth.password_validation import validate_password
    from django.core.exceptions import ValidationError

    from ctxweb.signin import forget_attempts

    if password_stdin:
        password = sys.stdin.readline().rstrip("\n")
    else:
        password = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    user = User.objects.filter(username=name).first()
    is_new = user is None
    user = user or User(username=name)
    try:
        user.full_clean(exclude=["password"])
        validate_password(password, user)
    except ValidationError as error:
        raise click.ClickException(" ".join(error.messages)) from None
    user.set_password(password)
    user.save()
    forget_attempts(name)
    click.echo(f"{'Created' if is_new else 'Changed the password of'} {name}.", err=True)
