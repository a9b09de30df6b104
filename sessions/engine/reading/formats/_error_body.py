"""How an error is written: what its words, code and status are, in any of its shapes (formats 21).

Providers and gateways write the same error flat (Bedrock, Cohere: ``{"message"}``; FastAPI: ``{"detail"}``), nested
(OpenAI, Anthropic: ``{"error": {"message"}}``), in a list (Vertex), as JSON inside a string (OpenRouter's
``metadata.raw``, the AI SDK's ``responseBody``, "API Error: 400 {…}"), as Python prints it ("Error code: 400 -
{'error': …}"), or as a proxy's web page.  All are read alike: what the parts say, from the outside in, each once.
"""

from __future__ import annotations

import ast
import html
import re
from functools import reduce
from typing import Any, NamedTuple

from sessions.engine.reading.json_values import JsonProblem, loads

MAX_BODY_CHARS, MAX_DEPTH = 65_536, 6
MESSAGE_KEYS = (
    "message", "errorMessage", "error_message", "Message", "detail", "details", "error_description", "msg",
    "description", "reason", "title", "text", "info",
)  # fmt: skip
CODE_KEYS = ("code", "type", "name", "errorType", "error_type", "__type", "error_code", "status")
STATUS_KEYS = ("status", "statusCode", "status_code", "http_status", "apiErrorStatus", "code", "error_code")
INNER_KEYS = (
    "error", "errors", "data", "body", "response", "responseBody", "cause", "metadata", "raw", "innererror", "detail",
    "details", "failure",
)  # fmt: skip
NO_CODES = frozenset({"error", "Error", "object", ""})
_PAGE = re.compile(r"<(?:!doctype html|html)\b", re.IGNORECASE)
_TITLE = re.compile(r"<(title|h1)\b[^>]*>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^>]{0,200}>")
_STATUS = re.compile(r"(?<![\d,.])([45]\d\d)(?![\d,.]*\d| ?tokens| ?bytes|[ _]?[kKmM]B| to \d)")
PAGE_CHARS = 4_000
STATUS_CHARS = 40
"""A status stands in front of what an error says."""


class ErrorBody(NamedTuple):
    """What an error says: its ``words``, its innermost ``code``, its HTTP ``status`` or 0, and all its ``codes``."""

    words: str = ""
    code: str = ""
    status: int = 0
    codes: tuple[str, ...] = ()


def error_body(value: Any, depth: int = 0) -> ErrorBody:
    """What ``value``, an error in any of its shapes, says; an empty body where it says nothing."""
    if depth > MAX_DEPTH:
        return ErrorBody()
    if isinstance(value, str):
        return _in_text(value.strip(), depth)
    if isinstance(value, list):
        bodies = (error_body(part, depth + 1) for part in value[:3])
        return next((body for body in bodies if body != ErrorBody()), ErrorBody())
    return _in_object(value, depth) if isinstance(value, dict) else ErrorBody()


_TRACE, _RAISED = "Traceback (most recent call last):", re.compile(r"^[\w.]+(?:Error|Exception)\b", re.MULTILINE)


def _in_object(value: dict[str, Any], depth: int) -> ErrorBody:
    own = [text for key in CODE_KEYS if isinstance(text := value.get(key), str) and text not in NO_CODES]
    status = next((n for key in STATUS_KEYS if (n := status_of(value.get(key)))), 0)
    words = next((text for key in MESSAGE_KEYS if isinstance(text := value.get(key), str) and text.strip()), "")
    bodies = [_in_text(words.strip(), depth)]
    bodies += [error_body(value[key], depth + 1) for key in INNER_KEYS if value.get(key) and value[key] != words]
    codes = tuple(dict.fromkeys([*own[:1], *(code for body in bodies for code in body.codes)]))
    said = reduce(_joined, (body.words for body in bodies))
    code = next((body.code for body in reversed(bodies) if body.code), next(iter(own), ""))
    return ErrorBody(said, code, next((body.status for body in bodies if body.status), status), codes)


def _in_text(text: str, depth: int) -> ErrorBody:
    """Plain words, a page, or words in front of an object as JSON or Python writes it; of a traceback its error."""
    front, trace, back = text.partition(_TRACE)
    if trace and (raised := list(_RAISED.finditer(back))):
        before, body = (_in_text(part, depth) for part in (front.strip(), back[raised[-1].start() :]))
        return before if before.codes or before.status else body._replace(words=_joined(before.words, body.words))
    text = text[:MAX_BODY_CHARS]
    if _PAGE.search(text[:500]):
        text = text[:PAGE_CHARS]
        found = _TITLE.search(text)
        words = " ".join(html.unescape(_TAG.sub(" ", found[2] if found else text)).split())
        return ErrorBody(words, "", _status_in(words))
    start, stop = text.find("{"), text.rfind("}") + 1
    is_list = text[start - 1 : start] == "[" and text[stop : stop + 1] == "]"
    start, stop = start - is_list, stop + is_list
    inner = error_body(json_object(text[start:stop]), depth + 1) if 0 <= start < stop else ErrorBody()
    if not (inner.words or inner.codes):
        return ErrorBody(text, "", _status_in(text))
    front, back = text[:start].strip(" \t\r\n-:·"), text[stop:].strip()
    return inner._replace(words=_joined(_joined(front, inner.words), back), status=_status_in(front) or inner.status)


def json_object(text: str) -> Any:
    """The value that ``text`` is in JSON or as Python prints it; None where it is neither."""
    try:
        return loads(text.encode("utf-8", errors="replace"))
    except (JsonProblem, ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text) if "'" in text else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _joined(outer: str, inner: str) -> str:
    """Both, each once."""
    if not inner or inner in outer:
        return outer
    return inner if not outer or outer in inner else f"{outer}: {inner}"


def status_of(value: Any) -> int:
    found = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) == 3 else value
    return found if isinstance(found, int) and not isinstance(found, bool) and 400 <= found <= 599 else 0


def _status_in(text: str) -> int:
    found = _STATUS.search(text[:STATUS_CHARS])
    return int(found[1]) if found else 0
