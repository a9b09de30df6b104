"""The operations of the API.  Each answers the document that the command line prints with ``--json``."""

from __future__ import annotations

from contextlib import closing
from typing import IO, TYPE_CHECKING, Annotated, Any, ClassVar, Literal, cast
from uuid import UUID  # noqa: TC003 - read when the operations are declared

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from ninja import File, Form, NinjaAPI, Query, Router, Schema, UploadedFile
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.security import HttpBearer
from pydantic import Field

from ctxweb.version import ctxweb_version
from sessions import selectors, tasks
from sessions.api.access import caller_of
from sessions.api.problems import MEDIA_TYPE, ProblemDocument, ProblemError, document, problem
from sessions.engine import jsonio, registry, report
from sessions.engine.aftermath import aftermath_document
from sessions.engine.errors import UnreadableInput
from sessions.engine.types import Parsed, Skipped
from sessions.engine.why.document import why_document
from sessions.models import ReplayLink, Scope, Session, Upload, viewer
from sessions.pages.diff.view import diff_json
from sessions.pages.export.view import export_list
from sessions.pages.library.view import EXPORTED
from sessions.pages.links import frozen, shared_views
from sessions.pages.links.forms import LEAST_PASSWORD
from sessions.pages.links.reach import link_address
from sessions.pages.quality.view import quality_json
from sessions.pages.replay.view import replay_json
from sessions.pages.sweep.view import sweep_json
from sessions.pages.ui import uploads as upload_words
from sessions.pages.ui.view import MOST_NOTE
from sessions.services import links
from sessions.services.deleting import only_for
from sessions.services.uploads import receive

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http.response import HttpResponseBase

MOST_ROWS, MOST_FILES = 500, 100
Id = Annotated[str, Field(pattern=r"^s_[a-z2-7]{12}$")]
Words = Annotated[str, Field(max_length=200, pattern=r"^[^\x00]*$")]
PROBLEMS = dict.fromkeys((400, 401, 403, 404, 409, 410, 422), ProblemDocument)
DOCUMENT: dict[Any, Any] = {200: dict[str, Any], 304: None, **PROBLEMS}


class Token(HttpBearer):
    """A personal token with one scope; not asked for where the server asks for no account."""

    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self.scope = scope

    def __call__(self, request: HttpRequest) -> Any:
        """The caller, if they may; ninja calls this."""
        caller = caller_of(request)
        if caller.problem:
            raise ProblemError(401, caller.problem)
        if self.scope not in caller.scopes:
            raise ProblemError(403, f"This needs a token with the scope {self.scope}.")
        return caller

    def authenticate(self, request: HttpRequest, token: str) -> Any:
        """Not used: a call without a token may be allowed."""
        raise NotImplementedError


READ, UPLOAD, SHARE = (Token(scope) for scope in (Scope.READ, Scope.UPLOAD, Scope.SHARE))
router = Router(auth=READ)


def session_of(session_id: str) -> Session:
    """The session; raises ProblemError 404."""
    try:
        return selectors.get_session(session_id)
    except Session.DoesNotExist:
        raise ProblemError(404, "There is no such session.") from None


# ---- sessions


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


def _parsed(found: Session) -> Parsed:
    """The session as the engine has it of a file with this session alone."""
    transcript = selectors.load_weighed(found.pk).transcript
    skipped = tuple(Skipped(*row) for row in found.upload.skipped)
    fates = () if found.member else upload_words.fates_of(found.upload)  # an archive's fates are not those of one file
    return Parsed(found.format, (transcript,), skipped, found.upload.reason, fates=fates)


@router.get("/sessions/{session_id}/inspect", response=DOCUMENT, summary="What fills the context")
def inspect(request: HttpRequest, session_id: Id) -> HttpResponseBase:
    """`ctxweb.inspect/1`, as `ctxweb inspect --json`."""
    found = session_of(session_id)
    try:
        with closing(selectors.load_texts(found)) as texts:
            return document(request, report.inspect_document(_parsed(found), texts=texts))
    except (UnreadableInput, OSError):
        raise ProblemError(410, "The uploaded file is missing, so its text cannot be read again.") from None


@router.get("/sessions/{session_id}/why", response=DOCUMENT, summary="Why it was compacted")
def why(
    request: HttpRequest, session_id: Id, window: Annotated[int | None, Field(ge=1_000, le=10_000_000)] = None
) -> HttpResponseBase:
    """`ctxweb.why/1`, as `ctxweb why --json`; `window` is a context window in tokens for the triggers."""
    return document(request, why_document(_parsed(session_of(session_id)), window=window))


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
    return shown(request, sweep_json, session_id, how.query(losses="off", **({"over": over} if over else {})))


@router.get("/sessions/{session_id}/export/{target}", response={200: Any, **PROBLEMS}, summary="Export messages")
def export(request: HttpRequest, session_id: Id, target: Words) -> HttpResponseBase:
    """The whole message list as the file of a target: `jsonl`, `anthropic` or `chat`; as `ctxweb export`."""
    known = registry.plugins("exports")
    found = known.get(target)
    if found is None:
        raise ProblemError(404, f"There is no export {target[:40]!r}. Known: {', '.join(known)}.")
    session_of(session_id)
    request.GET = QueryDict()
    return export_list(request, session_id, found.suffix.removeprefix("."))


# ---- uploads


class UploadEntry(Schema):
    """One file as it was received; its sessions appear once it is read."""

    id: UUID
    file: str
    sha256: str
    status: str = Field(description="queued, reading, done or failed; duplicate where the bytes were here before")
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
    return UploadEntry(
        id=upload.pk,
        file=upload.filename,
        sha256=upload.sha256,
        status="duplicate" if duplicate and upload.finished else upload.status,
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
    for one in got:
        one.upload.refresh_from_db()
    return _uploads(request, [_entry(one.upload, duplicate=one.duplicate) for one in got], 202)


@router.get("/uploads/{upload_id}", response=UPLOADED, summary="How far an upload is")
def get_upload(request: HttpRequest, upload_id: UUID) -> HttpResponseBase:
    """`ctxweb.upload/1` of one upload."""
    try:
        found = selectors.get_upload(upload_id)
    except Upload.DoesNotExist:
        raise ProblemError(404, "There is no such upload.") from None
    return _uploads(request, [_entry(found)], 200)


# ---- links


class NewLinkBody(Schema):
    """What a link shows and for how long; `state` is a query string of that page.

    `allow`: what recipients of a replay may do: `move` where it compacts, `reply` with their setting.
    """

    view: str = Field("replay", pattern="^(session|replay|diff)$")
    state: Annotated[str, Field(max_length=2_000, pattern=r"^[^\x00]*$")] = ""
    title: Annotated[str, Field(max_length=255, pattern=r"^[^\x00]*$")] = ""
    note: Annotated[str, Field(max_length=MOST_NOTE, pattern=r"^[^\x00]*$")] = ""
    days: Annotated[int | None, Field(ge=1, le=3_650)] = 30
    password: Annotated[str, Field(max_length=200)] | None = Field(None, min_length=LEAST_PASSWORD)
    allow: list[Literal["move", "reply"]] = Field(["move"], max_length=2)


def _terms(body: NewLinkBody) -> links.Terms:
    moves, replies = "move" in body.allow, "reply" in body.allow
    return links.Terms(body.days, body.password or "", moves=moves, takes_replies=replies)


def _link(one: ReplayLink) -> dict[str, Any]:
    return {
        "id": one.pk, "session": one.session_id, "view": one.view, "title": one.title, "password": bool(one.password),
        "created_at": one.created_at, "expires_at": one.expires_at, "revoked_at": one.revoked_at,
        "views": one.n_views, "viewed_at": one.viewed_at, "allow": _allows(one), "reply_to": one.reply_to_id,
        "author": one.author, "version": one.version,
    }  # fmt: skip


def _allows(one: ReplayLink) -> list[str]:
    return [name for name, may in (("move", one.moves), ("reply", one.takes_replies)) if may]


def _owned(session_id: str) -> Session:
    found = session_of(session_id)
    if not viewer().owns(found.upload.owner_id):
        raise ProblemError(403, only_for(found.upload))
    return found


@router.get("/sessions/{session_id}/links", response=DOCUMENT, summary="List replay links")
def list_links(request: HttpRequest, session_id: Id) -> HttpResponseBase:
    """`ctxweb.links/1`: the links of a session without their addresses, which are stored nowhere."""
    found = _owned(session_id)
    return document(
        request, {"schema": "ctxweb.links/1", "links": [_link(one) for one in found.links.defer("results")]}
    )


@router.post(
    "/sessions/{session_id}/links", auth=SHARE, response={201: dict[str, Any], **PROBLEMS}, summary="Make a replay link"
)
def make_link(request: HttpRequest, session_id: Id, body: NewLinkBody) -> HttpResponseBase:
    """`ctxweb.links/1` with the new link and its `url`, which is told this once."""
    found = _owned(session_id)
    chosen = shared_views.VIEWS[body.view]
    state = chosen.frozen(QueryDict(body.state))
    made = links.create_link(
        session=found, view=body.view, state=state, title=body.title or chosen.claim(found, state)[:255],
        note=body.note, terms=_terms(body), maker_id=viewer().user_id,
    )  # fmt: skip
    frozen.keep(made.link)
    entry = _link(made.link) | {"url": link_address(request, made.token)}
    return document(request, {"schema": "ctxweb.links/1", "links": [entry]}, 201)


@router.delete("/links/{link_id}", auth=SHARE, response={204: None, **PROBLEMS}, summary="Revoke a replay link")
def revoke_link(request: HttpRequest, link_id: Annotated[int, Field(ge=1, le=2**63 - 1)]) -> HttpResponseBase:
    """The link leads nowhere from then on."""
    found = ReplayLink.objects.select_related("session__upload").filter(pk=link_id).first()
    if found is None:
        raise ProblemError(404, "There is no such link.")
    try:
        selectors.get_session(found.session_id)
    except Session.DoesNotExist:
        raise ProblemError(404, "There is no such link.") from None
    if not viewer().owns(found.maker_id):
        _owned(found.session_id)
    links.revoke_link(link_id=link_id)
    return HttpResponse(status=204)


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


@api.exception_handler(ProblemError)
def _problem(request: HttpRequest, error: ProblemError) -> HttpResponse:
    return problem(request, error)


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
