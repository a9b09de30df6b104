"""What the operations of the API share: who may call, what is answered, which session is meant."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest
from ninja.security import HttpBearer
from pydantic import Field

from sessions import selectors
from sessions.api.access import caller_of
from sessions.api.problems import ProblemDocument, ProblemError
from sessions.models import Scope, Session

Id = Annotated[str, Field(pattern=r"^s_[a-z2-7]{12}$")]
Words = Annotated[str, Field(max_length=200, pattern=r"^[^\x00]*$")]
PROBLEMS = dict.fromkeys((400, 401, 403, 404, 409, 410, 422), ProblemDocument)
DOCUMENT: dict[Any, Any] = {200: dict[str, Any], 304: None, **PROBLEMS}


class Token(HttpBearer):
    """A personal token with one of some scopes; not asked for where the server asks for no account."""

    def __init__(self, *scopes: Scope) -> None:
        super().__init__()
        self.scopes = scopes

    def __call__(self, request: HttpRequest) -> Any:
        """The caller, if they may; ninja calls this."""
        caller = caller_of(request)
        if caller.problem:
            raise ProblemError(401, caller.problem)
        if caller.scopes.isdisjoint(self.scopes):
            raise ProblemError(403, f"This needs a token with the scope {' or '.join(self.scopes)}.")
        return caller

    def authenticate(self, request: HttpRequest, token: str) -> Any:
        """Not used: a call without a token may be allowed."""
        raise NotImplementedError


READ, UPLOAD, SHARE = (Token(scope) for scope in (Scope.READ, Scope.UPLOAD, Scope.SHARE))
FOLLOW = Token(Scope.READ, Scope.UPLOAD)
"""How far an upload is: whoever may upload may ask it of what they uploaded."""


def session_of(session_id: str) -> Session:
    """The session; raises ProblemError 404."""
    try:
        return selectors.get_session(session_id)
    except Session.DoesNotExist:
        raise ProblemError(404, "There is no such session.") from None
