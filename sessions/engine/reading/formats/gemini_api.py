"""The Gemini API: requests, responses, both, streams, and plain lists of contents such as checkpoints (formats 8).

A content that starts with ``<state_snapshot>`` is what Gemini CLI compressed: what it stands for is not in the file.
Reported input includes cached tokens; ``Usage.input`` does not, and thoughts are part of the output.
"""

from __future__ import annotations

from typing import Any

from sessions.engine.base.words import words
from sessions.engine.reading.formats import YES, Coverage, Format, Head, Measured, Sniff, Source, each_value
from sessions.engine.reading.formats import _gemini_parts as gemini
from sessions.engine.reading.formats._blocks import is_prompt
from sessions.engine.reading.formats._call_sessions import sessions_of
from sessions.engine.reading.formats._calls import CallMessage, ProviderApi, TracedCall
from sessions.engine.reading.formats._records import closest, first_objects, inside, misread, objects, stem_of
from sessions.engine.reading.formats._traces import system_of, tools_of
from sessions.engine.reading.formats._values import Record, as_dict, as_list, seconds, text_of
from sessions.engine.transcript.types import Origin, Parsed, Role

PART_KEYS = words("""
    text inlineData inline_data fileData file_data functionCall function_call functionResponse function_response
    thoughtSignature thought_signature thought
""")


def _said_at(value: Any, at: Origin, time: float | None = None) -> CallMessage:
    """A content, or the chunks of a streamed reply, as a message of a call.

    It may stand for what Gemini CLI compressed, or be what that says about itself and its surroundings.
    """
    named = "model" if isinstance(value, list) else text_of(as_dict(value).get("role"))
    role = {"model": Role.ASSISTANT, "system": Role.SYSTEM}.get(named, Role.USER)
    contents = gemini.content_of(value)
    first = contents[0].text if contents else ""
    is_summary = named == "user" and first.startswith(gemini.SNAPSHOT)
    meta = role is Role.USER and is_prompt(contents) and first.lstrip().startswith(gemini.CLIENT_WORDS)
    native = text_of(as_dict(value).get("id"))
    return CallMessage(role, contents, (at,), native, timestamp=time, is_summary=is_summary, meta=meta)


def _request_shape(document: Record, request: Record | None) -> Sniff | None:
    if request is not None:
        return Sniff(88, "a request: `contents`, a list of parts by role")
    if history := _history(document):
        return Sniff(85, f"`{history}` is a list of contents")
    return Sniff(0, "it has `contents`, but no parts in them") if "contents" in document else None


def is_recording(value: Any) -> bool:
    """Whether a line is a recorded call: its method and its response or chunks."""
    if not isinstance(value, dict) or not text_of(value.get("method")).startswith("generateContent"):
        return False
    response = value.get("response")
    chunks = response if isinstance(response, list) else [response]
    return any(_is_response(chunk) for chunk in chunks)


def _calls(document: Any, whole: Origin) -> list[TracedCall]:
    """The calls of a document; a list of contents is a record without any."""
    if isinstance(document, dict):
        if is_recording(document):
            return [_recorded(document, whole)]
        history = _history(document)
        if history and API.pair(document) == (None, None):
            return [API.log(document[history], inside(whole, history))]
        return [API.call(document, whole)]
    return [_streamed(document, whole)] if any(map(_is_response, document)) else API.calls(document, whole)


def _recorded(value: Record, origin: Origin) -> TracedCall:
    """A recorded call: a reply without its request."""
    response, at = value["response"], inside(origin, "response")
    if isinstance(response, list):
        return _streamed(response, at)
    call = TracedCall([], [])
    _take(call, response, at)
    return call


def _list_shape(items: list[Any]) -> Sniff | None:
    if items and all(_is_content(item) for item in items):
        return Sniff(86, f"a list of {len(items)} contents: role and parts")
    if any(map(_is_response, items)) and not any("request" in as_dict(item) for item in items):
        return Sniff(86, "a list of response chunks: candidates with parts")
    return closest((API.shape(item) for item in items if isinstance(item, dict)), "a list")


def _history(document: Record) -> str:
    """The key under which a checkpoint keeps its contents."""
    return next((key for key in ("history", "clientHistory") if any(map(_is_content, as_list(document.get(key))))), "")


def _is_content(value: Any) -> bool:
    held = as_dict(value)
    if not isinstance(held.get("parts"), list) or held.get("role") not in ("user", "model", "function"):
        return False
    return all(isinstance(part, str) or any(key in as_dict(part) for key in PART_KEYS) for part in held["parts"])


def _is_request(document: Record) -> bool:
    return any(isinstance(as_dict(content).get("parts"), list) for content in as_list(document.get("contents")))


def _is_response(document: Any) -> bool:
    if not isinstance(document, dict) or not isinstance(document.get("candidates"), list):
        return False
    known = any(isinstance(c, dict) and ("content" in c or "finishReason" in c) for c in document["candidates"])
    return known or isinstance(gemini.field_of(document, "usageMetadata"), dict)


def _ask(call: TracedCall, request: Record, at: Origin) -> None:
    call.sent = API.log(request["contents"], inside(at, "contents")).sent
    call.model = text_of(request.get("model")).removeprefix("models/")
    call.system = system_of(gemini.field_of(request, "systemInstruction")) + tools_of(request.get("tools"))


def _take(call: TracedCall, response: Record, at: Origin) -> None:
    usage = gemini.field_of(response, "usageMetadata")
    call.usage = gemini.gemini_usage(usage) or call.usage
    call.model = text_of(gemini.field_of(response, "modelVersion")) or call.model
    call.response_id = text_of(gemini.field_of(response, "responseId"))
    call.timestamp = seconds(response.get("createTime"))
    counts = gemini.modalities(usage)
    call.notes = (f"Input of {call.response_id or 'a reply'} by modality: {counts}",) if counts else ()
    if gemini.chunk_parts(response):
        content = {**response["candidates"][0]["content"], "role": "model"}
        call.replied = [_said_at(content, inside(at, "candidates", 0, "content"))]


def _streamed(chunks: list[Any], at: Origin) -> TracedCall:
    """A reply in chunks: each chunk's usage replaces the one before."""
    call = TracedCall([], [])
    for chunk in chunks:
        if isinstance(chunk, dict):
            _take(call, chunk, at)
    call.replied = [_said_at(chunks, at)] if any(map(gemini.chunk_parts, chunks)) else []
    return call


API = ProviderApi(
    _said_at, _is_request, _is_response, _ask, _take, 90, lambda _: "candidates with parts", _request_shape, _list_shape
)


class _Format(Format):
    label = "Gemini API"
    source = "POST …:generateContent: request, response or contents, and checkpoints of Gemini CLI (JSON)"
    coverage = Coverage(
        usage=YES, images=YES, compactions=YES, refusals=YES,
        error="error in place of an answer", compaction="<state_snapshot>", model="modelVersion",
    )  # fmt: skip

    def sniff(self, head: Head) -> Sniff | None:
        lines = first_objects(head)
        if lines and all(is_recording(value) for value in lines):
            return Sniff(90, f"lines record calls; line 1 is {lines[0]['method']}")
        return API.shape(head.document) if head.document is not None else None

    def parse(self, source: Source, measure: Measured) -> Parsed:
        """The sessions of the file; contents that several requests send are counted once."""
        document = source.head().document
        if document is None or is_recording(document):
            lines = objects(source, is_recording, "an object that is not a recorded call")
            calls = [_recorded(value, line.at()) for line, value in lines]
        elif isinstance(document, (dict, list)):
            calls = _calls(document, Origin(1, 0, source.size))
        else:
            raise misread("neither a request nor a response nor contents")
        return Parsed(sessions_of(calls, measure, stem=stem_of(source.name), runs=True))

    contents = each_value(gemini.content_of)
