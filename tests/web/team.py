"""A team's server for tests: signing in is asked for, and who is on it."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.test import Client

PASSWORD = "correct horse battery"


def account(name: str, *, is_admin: bool = False) -> tuple[User, Client]:
    """A new account, and a browser that is signed in with it."""
    user = User.objects.create_user(name, password=PASSWORD, is_superuser=is_admin)
    client = Client()
    client.force_login(user)
    return user, client
