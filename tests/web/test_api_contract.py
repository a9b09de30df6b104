"""Every operation of the API under drawn parameters: no 5xx, and no answer that the OpenAPI document does not name."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, given
from hypothesis import settings as drawing
from hypothesis.errors import Unsatisfiable
from pytest_django import Settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.every import EVERY
from tests.web.stored import pressed, store

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
N_EXAMPLES = 10 if EVERY else 4
N_WITHOUT_TOKEN = 3 if EVERY else 1
"""Of an operation that lets nobody in, where what is asked makes no difference."""


@pytest.fixture
def _one_connection() -> Iterator[None]:
    """No request closes the connection that holds the test's transaction."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.mark.django_db
@pytest.mark.usefixtures("_one_connection")
@pytest.mark.parametrize("accounts", [False, True])
def test_every_answer_is_declared(
    accounts: bool, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MEDIA_ROOT = tmp_path / "blobs"
    settings.ALLOWED_HOSTS = ["*"]
    monkeypatch.setattr("sessions.tasks.wake", lambda n: None)
    session_id = store(pressed(6)).pk
    settings.REQUIRE_LOGIN = accounts
    schema = schemathesis.openapi.from_wsgi("/api/openapi.json", closing(WSGIHandler()))
    asked = []
    for result in schema.get_all_operations():
        operation = result.ok()
        asked.append(operation.label)
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            ask(operation, mode, session_id, accounts=accounts)
    assert len(asked) >= 12


def closing(handler: WSGIHandler) -> Callable[..., list[bytes]]:
    """The application, each of whose answers is read and closed: the client leaves both to its collector."""

    def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        with contextlib.closing(handler(environ, start_response)) as answer:
            return list(answer)

    return application


def ask(operation: APIOperation[Any, Any, Any, Any], mode: GenerationMode, session_id: str, *, accounts: bool) -> None:
    """Some calls of one operation, those with right parameters about a session that exists."""
    own = "{session_id}" in operation.path and mode is GenerationMode.POSITIVE

    @drawing(max_examples=N_WITHOUT_TOKEN if accounts else N_EXAMPLES, deadline=None, database=None, derandomize=True,
             suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(case=operation.as_strategy(mode))
    def holds(case: schemathesis.Case) -> None:
        if own:
            case.path_parameters = {**(case.path_parameters or {}), "session_id": session_id}
        response = case.call(headers={"Accept-Encoding": "identity"})
        case.validate_response(response, checks=CHECKS)
        if accounts:
            assert response.status_code in (400, 401, 404, 405, 422), "nobody comes in without a token"

    try:
        holds()
    except Unsatisfiable:
        assert mode is GenerationMode.NEGATIVE, "nothing in this operation can be wrong"
