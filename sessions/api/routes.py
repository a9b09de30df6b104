"""The operations of the API.  Each answers the document that the command line prints with ``--json``."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Annotated, Any, ClassVar, cast
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.urls import reverse
from ninja import File, Form, NinjaAPI, Query, Router, Schema, UploadedFile
from ninja.errors import AuthenticationError, HttpError, ValidationError
from pydantic import Field

from ctxweb.version import ctxweb_version
from sessions import selectors, tasks
from sessions.api import link_routes
from sessions.api.access import (
    DOCUMENT,
    FOLLOW,
    MEDIA_TYPE,
    PROBLEMS,
    READ,
    UPLOAD,
    Id,
    ProblemError,
    Words,
    caller_of,
    document,
    problem,
    session_of,
)
from sessions.engine.base import registry
from sessions.engine.base.errors import UnreadableInput
from sessions.engine.base.suggestions import no_such
from sessions.engine.reading import jsonio
from sessions.engine.reports import report
from sessions.engine.why.aftermath import aftermath_document
from sessions.engine.why.document import why_document
from sessions.faults import GONE
from sessions.models import Scope, Upload, viewer
from sessions.pages.diff.view import diff_json
from sessions.pages.export.view import export_list
from sessions.pages.library.view import EXPORTED
from sessions.pages.quality.view import quality_json
from sessions.pages.replay.view import replay_json
from sessions.pages.session.view import parsed
from sessions.pages.sweep.view import sweep_json
from sessions.runs.searching import MOST_ROWS as MOST_SEARCHED
from sessions.runs.searching import search_document
from sessions.services.uploads import receive

MOST_ROWS, MOST_FILES = 500, 100
router = Router(auth=READ)


@router.get("/sessions", response=DOCUMENT, summary="List sessions")
def list_sessions(  # noqa: PLR0917 - ninja reads the parameters
    request: HttpRequest,
    search: Words = "",
    only: Words = "",
    format: Words = "",
    model: Words = "",
    sort: Words = "",
    offset: Annotated[int, Field(ge=0, le=1_000_000)] = 0,
    limit: Annotated[int, Field(ge=1, le=MOST_ROWS)] = 100,
) -> HttpResponseBase:
    """`ctxweb.sessions/1`: the newest first, `limit` from `offset` on; a `Link` header leads to the next page."""
    page = selectors.session_list(
        search=search, only=only, format=format, model=model, sort=sort, start=offset, limit=limit
    )
    rows = [{name: getattr(one, name) for name in EXPORTED} for one in page.sessions]
    found = {"schema": "ctxweb.sessions/1", "state": "", "sessions": rows, "total": page.total, "offset": offset}
    response = document(request, found)
    query = request.GET.copy()
    for name, at in (("next", offset + limit), ("prev", max(0, offset - limit))):
        if at != offset and (at < page.total if name == "next" else offset > 0):
            query["offset"] = str(at)
            response["Link"] = ", ".join(
                filter(None, (response.get("Link", ""), f'<{request.path}?{query.urlencode()}>; rel="{name}"'))
            )
    return response


@router.get("/search", response=DOCUMENT, summary="Find words in messages")
def search(  # noqa: PLR0917 - ninja reads the parameters
    request: HttpRequest,
    q: Words,
    only: Words = "",
    format: Words = "",
    model: Words = "",
    sort: Words = "",
    offset: Annotated[int, Field(ge=0, le=1_000_000)] = 0,
    limit: Annotated[int, Field(ge=1, le=MOST_SEARCHED)] = 20,
) -> HttpResponseBase:
    """`ctxweb.search/1`, as `ctxweb search --json`: sessions with all words of `q` in one message, and where.

    `"in quotes"` is a phrase, `auth*` the beginning of a word; names and paths are found by their parts, too.
    """
    return document(
        request, search_document(q, only=only, format=format, model=model, sort=sort, start=offset, limit=limit)
    )


@router.get("/sessions/{session_id}/inspect", response=DOCUMENT, summary="What fills the context")
def inspect(request: HttpRequest, session_id: Id) -> HttpResponseBase:
    """`ctxweb.inspect/1`, as `ctxweb inspect --json`."""
    found = session_of(session_id)
    try:
        with selectors.load_texts(found) as texts:
            return document(request, report.inspect_document(parsed(found), texts=texts))
    except UnreadableInput as error:
        raise ProblemError(GONE, str(error)) from None


@router.get("/sessions/{session_id}/why", response=DOCUMENT, summary="Why it was compacted")
def why(
    request: HttpRequest, session_id: Id, window: Annotated[int | None, Field(ge=1_000, le=10_000_000)] = None
) -> HttpResponseBase:
    """`ctxweb.why/1`, as `ctxweb why --json`; `window` is a context window in tokens for the triggers."""
    return document(request, why_document(parsed(session_of(session_id)), window=window))


@router.get("/sessions/{session_id}/aftermath", response=DOCUMENT, summary="What came after compactions")
def aftermath(request: HttpRequest, session_id: Id) -> HttpResponseBase:
    """`ctxweb.aftermath/1`, as `ctxweb aftermath --json`."""
    found = session_of(session_id)
    one = aftermath_document(selectors.load_weighed(found.pk))
    return document(request, {"schema": "ctxweb.aftermath/1", "format": found.format, "sessions": [one]})


# ---- replays: the pages' own documents under the words of the command line


class Replayed(Schema):
    """What is replayed, in the words of `ctxweb replay`."""

    policy: Words = "claude_code"
    base: Words = "full"
    estimator: Words = ""
    summarizer: Words = "recorded"
    window: Annotated[int | None, Field(ge=1_000, le=10_000_000)] = None
    fail: Words = ""
    set: list[Words] = Field([], description="Parameters of the policy, `key=value` each", max_length=60)

    def query(self, **more: object) -> QueryDict:
        """The same as the query string of the pages."""
        query = QueryDict(mutable=True)
        for name in ("policy", "base", "estimator", "summarizer", "window", "fail"):
            if getattr(self, name) not in ("", None):
                query[name] = str(getattr(self, name))
        for pair in self.set:
            key, equals, value = pair.partition("=")
            if not equals:
                raise ProblemError(400, "A parameter is key=value.", {"set": f"{pair[:60]!r} has no value."})
            query[f"p.{key}"] = value
        for name, given in more.items():
            query.setlist(name, [str(one) for one in given] if isinstance(given, list) else [str(given)])
        return query


def shown(request: HttpRequest, view: Callable[..., Any], session_id: str, query: QueryDict) -> HttpResponseBase:
    """What a page's JSON address answers to ``query``, its errors as a problem."""
    session_of(session_id)
    request.GET = query  # type: ignore[assignment]  # a QueryDict as Django's own
    answer: HttpResponse = view(request, session_id)
    found: dict[str, Any] = jsonio.loads(answer.content)
    if answer.status_code >= 400:
        errors = {str(name).removeprefix("p."): str(words) for name, words in found["errors"].items()}
        raise ProblemError(answer.status_code, " ".join(errors.values()), errors)
    return document(request, found, answer.status_code)


@router.get("/sessions/{session_id}/replay", response=DOCUMENT, summary="Replay under a policy")
def replay(request: HttpRequest, session_id: Id, how: Query[Replayed]) -> HttpResponseBase:
    """`ctxweb.replay/1`, as `ctxweb replay --json`."""
    return shown(request, replay_json, session_id, how.query())


Event = Annotated[int, Field(ge=0, le=1_000_000)]


@router.get("/sessions/{session_id}/diff", response=DOCUMENT, summary="Before and after one compaction")
def diff(request: HttpRequest, session_id: Id, how: Query[Replayed], event: Event = 0) -> HttpResponseBase:
    """`ctxweb.diff/1`, as `ctxweb diff --json`; `event` counts from 0."""
    return shown(request, diff_json, session_id, how.query(event=event))


@router.get("/sessions/{session_id}/probe", response=DOCUMENT, summary="What compactions lose")
def probe(
    request: HttpRequest,
    session_id: Id,
    how: Query[Replayed],
    event: Event | None = None,
    horizon: Annotated[int | None, Field(ge=1, le=1_000_000)] = None,
) -> HttpResponseBase:
    """`ctxweb.probe/1`, as `ctxweb probe --json`; `horizon`: requests after an event that count as later."""
    more = {name: value for name, value in (("event", event), ("horizon", horizon)) if value is not None}
    return shown(request, quality_json, session_id, how.query(**more))


@router.get(
    "/sessions/{session_id}/sweep", response={202: dict[str, Any], **DOCUMENT}, summary="Replay over many settings"
)
def sweep(
    request: HttpRequest,
    session_id: Id,
    how: Query[Replayed],
    over: Annotated[list[Words], Query(description="`key=start:stop:count`, at most two", max_length=2)] = [],  # noqa: B006
) -> HttpResponseBase:
    """`ctxweb.sweep/1`, as `ctxweb sweep --regret --json`; 202 with the rows so far after two seconds."""
    return shown(request, sweep_json, session_id, how.query(losses="on", **({"over": over} if over else {})))


@router.get("/sessions/{session_id}/export/{target}", response={200: Any, **PROBLEMS}, summary="Export messages")
def export(request: HttpRequest, session_id: Id, target: Words) -> HttpResponseBase:
    """The whole message list as the file of a target: `jsonl`, `anthropic` or `chat`; as `ctxweb export`."""
    known = registry.plugins("exports")
    found = known.get(target)
    if found is None:
        raise ProblemError(404, no_such("export", target, known))
    session_of(session_id)
    request.GET = QueryDict()
    return export_list(request, session_id, found.suffix.removeprefix("."))


class UploadEntry(Schema):
    """One file as it was received; its sessions appear once it is read."""

    id: UUID
    file: str
    sha256: str
    status: str = Field(description="queued, reading, done or failed; duplicate where the bytes were here before")
    new_messages: int | None = Field(
        description="What a file brought that goes on where an upload ended, whose id and sessions these are; else null"
    )
    format: str | None
    sessions: list[str]
    skipped: int
    error: str | None
    url: str


class UploadDocument(Schema):
    """`ctxweb.upload/1`."""

    schema_: str = Field("ctxweb.upload/1", alias="schema")
    uploads: list[UploadEntry]


UPLOADED: dict[Any, Any] = {200: UploadDocument, 304: None, **PROBLEMS}


def _entry(upload: Upload, *, duplicate: bool = False) -> UploadEntry:
    came_as = upload.came_as
    duplicate = duplicate or bool(came_as and came_as.is_beginning)
    return UploadEntry(
        id=upload.pk,
        file=upload.filename,
        sha256=upload.sha256,
        status="duplicate" if duplicate and upload.finished else upload.status,
        new_messages=came_as.n_new if came_as and not came_as.is_beginning else None,
        format=upload.format or None,
        sessions=[one.pk for one in selectors.upload_sessions(upload) if one.branch_of_id is None],
        skipped=upload.n_skipped,
        error=upload.error or None,
        url=reverse("api:get_upload", args=[upload.pk]),
    )


def _uploads(request: HttpRequest, entries: list[UploadEntry], status: int) -> HttpResponseBase:
    found = UploadDocument(uploads=entries).model_dump(mode="json", by_alias=True)  # type: ignore[call-arg]
    return document(request, found, status)


@router.post("/uploads", auth=UPLOAD, response={202: UploadDocument, **PROBLEMS}, summary="Upload files")
def upload(
    request: HttpRequest, files: File[list[UploadedFile]], who: Annotated[str, Form(pattern="^(team|mine)$")] = "team"
) -> HttpResponseBase:
    """Store the files and queue them; `who`: the team's sessions, or the caller's own. Ask the `url` how far it is."""
    if len(files) > MOST_FILES:
        raise ProblemError(422, f"At most {MOST_FILES} files in one request.")
    got = [
        receive(file=cast("IO[bytes]", one), filename=one.name or "", owner_id=viewer().user_id, private=who == "mine")
        for one in files
    ]
    tasks.wake(sum(not one.duplicate for one in got))
    # Some may be read by now, and have turned out to continue an upload.
    now = [(Upload.objects.called(one.upload.pk), one.duplicate) for one in got]
    return _uploads(request, [_entry(one, duplicate=duplicate) for one, duplicate in now], 202)


@router.get("/uploads/{upload_id}", auth=FOLLOW, response=UPLOADED, summary="How far an upload is")
def get_upload(request: HttpRequest, upload_id: UUID) -> HttpResponseBase:
    """`ctxweb.upload/1` of one upload; a token without the scope `read` is told of its account's own uploads alone."""
    try:
        found = selectors.get_upload(upload_id)
        if Scope.READ not in caller_of(request).scopes and found.owner_id != viewer().user_id:
            raise Upload.DoesNotExist
    except Upload.DoesNotExist:
        raise ProblemError(404, "There is no such upload.") from None
    return _uploads(request, [_entry(found)], 200)


class DescribedAPI(NinjaAPI):
    """The API, whose description names the media type of problems and of exports."""

    _described: ClassVar[dict[str, Any]] = {}

    def get_openapi_schema(self, **options: Any) -> Any:
        """The OpenAPI document, made once for each address at which the API stands: it takes half a second."""
        root = options.get("path_prefix") or self.get_root_path(options.get("path_params") or {})
        if root not in self._described:
            self._described[root] = self._describe(root)
        return self._described[root]

    def _describe(self, root: str) -> Any:
        found = super().get_openapi_schema(path_prefix=root)
        for methods in found["paths"].values():
            for operation in methods.values():
                for code, answer in operation["responses"].items():
                    if int(code) >= 400:
                        answer["content"] = {MEDIA_TYPE: answer["content"]["application/json"]}
        exported = found["paths"]["/api/sessions/{session_id}/export/{target}"]["get"]["responses"][200]
        exported["content"] = {one.media_type: {} for one in registry.plugins("exports").values()}
        return found


api = DescribedAPI(
    title="ctxweb",
    version=ctxweb_version(),
    description="The documents of the command line over HTTP. Errors are problem documents (RFC 9457).",
    urls_namespace="api",
    docs_url=None,
)
api.add_router("", router)
api.add_router("", link_routes.router)
api.exception_handler(ProblemError)(problem)


@api.exception_handler(ValidationError)
def _invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    errors = {".".join(str(part) for part in one["loc"][1:]) or "body": str(one["msg"]) for one in error.errors}
    return problem(request, ProblemError(422, "Some parameters are wrong.", errors))


@api.exception_handler(HttpError)
def _http(request: HttpRequest, error: HttpError) -> HttpResponse:
    return problem(request, ProblemError(error.status_code, str(error)))


@api.exception_handler(AuthenticationError)
def _unknown(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    return problem(request, ProblemError(401, "This server asks for a token."))
