"""Who is looking: what they see and may change follows from it, wherever a request leads.

The middleware names the viewer of a request where accounts are required.  The console, workers and a server without
accounts see everything, as their owner does.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from django.contrib.auth import get_user_model
from django.db.models import Q


@dataclass(frozen=True, slots=True)
class Viewer:
    """An account by its id; None: nobody signed in.  ``is_admin`` sees and may change everything."""

    user_id: int | None = None
    is_admin: bool = False

    def owns(self, owner_id: int | None) -> bool:
        """Whether what this account owns is the viewer's to delete, revoke and share; admins' is all."""
        return self.is_admin or (self.user_id is not None and owner_id == self.user_id)


EVERYTHING = Viewer(is_admin=True)
"""No account is asked for: the console, a worker, a server for one person."""

_viewer: ContextVar[Viewer] = ContextVar("ctxweb_viewer", default=EVERYTHING)


def viewer() -> Viewer:
    """Who is looking now."""
    return _viewer.get()


@contextmanager
def seen_as(who: Viewer) -> Iterator[None]:
    """Look as ``who`` meanwhile."""
    token = _viewer.set(who)
    try:
        yield
    finally:
        _viewer.reset(token)


def as_now(who: Viewer) -> Viewer:
    """``who`` with the rights that the account has by now: another role, or none where it is closed or gone."""
    if who.user_id is None:
        return who
    user = get_user_model().objects.filter(pk=who.user_id, is_active=True).first()
    return Viewer() if user is None else Viewer(user.pk, is_admin=user.is_superuser)


def visible(who: Viewer, *, private: str, owner: str) -> Q:
    """What ``who`` sees of rows that are somebody's alone or the team's, by the names of the two fields."""
    if who.is_admin:
        return Q()
    if who.user_id is None:
        return Q(pk__in=())
    return Q(**{private: False}) | Q(**{owner: who.user_id})
