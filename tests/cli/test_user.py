"""``ctxweb user`` creates accounts and changes passwords."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from django.contrib.auth.models import User

from ctxweb import datalock
from ctxweb.cli import cli
from ctxweb.env import data_dir

pytestmark = pytest.mark.django_db


def run(name: str, password: str) -> tuple[int, str]:
    """Exit status and standard error of the command with the password piped in."""
    result = CliRunner().invoke(cli, ["user", name, "--password-stdin"], input=f"{password}\n")
    return result.exit_code, result.stderr


def accepts(name: str, password: str) -> bool:
    """Whether there is such a user with this password."""
    user = User.objects.filter(username=name).first()
    return user is not None and user.check_password(password)


def test_create_then_change() -> None:
    assert run("alice", "correct horse battery") == (0, "Created alice, admin.\n")
    assert accepts("alice", "correct horse battery")
    said = "Changed the password of alice. Sign-ins, tokens and invitations made by alice ended.\n"
    assert run("alice", "another long password") == (0, said)
    assert accepts("alice", "another long password")
    assert not accepts("alice", "correct horse battery")


@pytest.mark.parametrize(("name", "password"), [("alice", "short"), ("alice", "1234567890"), ("a b", "correct horse")])
def test_refusals_say_why(name: str, password: str) -> None:
    status, message = run(name, password)
    assert status == 1
    assert message.startswith("Error: ")
    assert not accepts(name, password)


def test_an_invitation_leads_to_the_server_that_runs() -> None:
    def invited() -> tuple[str, str]:
        result = CliRunner().invoke(cli, ["user", "--invite", "Bob"])
        return result.stdout, result.stderr

    address, said = invited()
    assert address.startswith("http://127.0.0.1:8400/join/")
    assert "Only this machine reaches it" in said
    with datalock.held(data_dir(), "http://127.0.0.1:8470/", "http://192.0.2.7:8470/"):
        assert datalock.holder(data_dir()) == "http://127.0.0.1:8470/"
        address, said = invited()
        assert address.startswith("http://192.0.2.7:8470/join/")
        assert "Only this machine" not in said
    with datalock.held(data_dir(), "http://127.0.0.1:8470/"):
        address, said = invited()
        assert address.startswith("http://127.0.0.1:8470/join/")
        assert "Only this machine reaches it" in said
