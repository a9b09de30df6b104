"""A loopback server that speaks the Messages API: ``/v1/messages``, streamed or not, and ``/v1/messages/count_tokens``.

Answers are queued with ``then`` or come from ``decide(seen)``; without either every message is answered with ``text``
and every count with the bytes of the request's messages divided by four.  Headers and body go out in one write: in two
they cost 44 ms a call (delayed acknowledgement).

    with serving() as api:
        api.then(Answer(429, headers={"retry-after": "1"}), message("a summary"))
"""

from __future__ import annotations

import json
import sys
import threading
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

COUNT = "/v1/messages/count_tokens"
MESSAGES = "/v1/messages"
KINDS = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
         413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as it arrived; header names in lower case."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """Everything the request says to the model, as JSON."""
        return json.dumps([self.body.get("system"), self.body.get("messages")], ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server does: waits ``delay`` seconds, then sends ``body`` (bytes as they are, else as JSON).

    ``body`` None is the error document of ``status``.  ``hang_up`` closes the connection after that many bytes.
    ``events`` are streamed instead of ``body``, ``pause`` seconds apart.
    """

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    hang_up: int | None = None
    events: Sequence[dict[str, Any]] = ()
    pause: float = 0.0


def counted(n_tokens: int) -> Answer:
    """A count."""
    return Answer(body={"input_tokens": n_tokens})


def message(
    text: str = "", *, stop: str = "end_turn", tools: Sequence[tuple[str, dict[str, Any]]] = (), **more: Any
) -> Answer:
    """A whole reply, not streamed: ``text`` if any, then one tool call per (name, input)."""
    return Answer(body=reply(text, stop=stop, tools=tools), **more)


def reply(text: str, *, stop: str = "end_turn", tools: Sequence[tuple[str, dict[str, Any]]] = ()) -> dict[str, Any]:
    """The document of a reply; its usage is 100 tokens in and a quarter of its characters out."""
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{n}", "name": name, "input": arguments}
        for n, (name, arguments) in enumerate(tools)
    ]
    usage = {"input_tokens": 100, "output_tokens": max(1, len(text) // 4)}
    return {
        "id": "msg_fake", "type": "message", "role": "assistant", "model": "claude-fake", "content": content,
        "stop_reason": stop, "stop_sequence": None, "usage": usage,
    }  # fmt: skip


def stream(text: str, *, pieces: int = 4, stop: str = "end_turn", cut_after: int | None = None, **more: Any) -> Answer:
    """The same reply as server-sent events, its text in ``pieces``; ``cut_after`` leaves out all later events."""
    whole = reply(text, stop=stop)
    size = max(1, -(-len(text) // pieces))
    start = {**whole, "content": [], "stop_reason": None, "usage": {"input_tokens": 100, "output_tokens": 1}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
    if text:
        events.append({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
        for at in range(0, len(text), size):
            delta = {"type": "text_delta", "text": text[at : at + size]}
            events.append({"type": "content_block_delta", "index": 0, "delta": delta})
        events.append({"type": "content_block_stop", "index": 0})
    ended = {"stop_reason": stop, "stop_sequence": None}
    events.append(
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": whole["usage"]["output_tokens"]}}
    )
    events.append({"type": "message_stop"})
    return Answer(events=events[:cut_after], **more)


class FakeAnthropic:
    """The server's address, what it was asked, and what it will answer."""

    def __init__(self) -> None:
        self.requests: list[Seen] = []
        self.queue: deque[Answer] = deque()
        self.decide: Callable[[Seen], Answer | None] | None = None
        self.text = "A reply of the fake model."
        self.base_url = ""
        self.stopping = threading.Event()
        self.lock = threading.Lock()

    def then(self, *answers: Answer) -> None:
        """Give these answers to the next requests, one each."""
        self.queue.extend(answers)

    def answer(self, seen: Seen) -> Answer:
        """The queued answer, else the decided one, else the plain one."""
        with self.lock:
            self.requests.append(seen)
            if self.queue:
                return self.queue.popleft()
        decided = self.decide(seen) if self.decide else None
        if decided is not None:
            return decided
        if seen.path == COUNT:
            return counted(len(json.dumps(seen.body.get("messages"))) // 4)
        return stream(self.text) if seen.body.get("stream") else message(self.text)


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up first is no fault."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving() -> Iterator[FakeAnthropic]:
    """The server on a free port of the loopback interface, until the block ends; no answer outlives it."""
    fake = FakeAnthropic()
    server = _Server(("127.0.0.1", 0), _handler(fake))
    server.daemon_threads = False
    fake.base_url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield fake
    finally:
        fake.stopping.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(fake: FakeAnthropic) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        wbufsize = -1  # collected, and sent by flush: one write

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            path = self.path.partition("?")[0]
            if path not in (COUNT, MESSAGES):
                _send(self, Answer(404), fake.stopping)
                return
            answer = fake.answer(Seen(path, headers, json.loads(body)))
            fake.stopping.wait(answer.delay)
            try:
                _send(self, answer, fake.stopping)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client gave up first

        def finish(self) -> None:
            try:
                super().finish()
            except (BrokenPipeError, ConnectionResetError):
                self.rfile.close()

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: pytest shows what a test prints."""

    return Handler


def _send(handler: BaseHTTPRequestHandler, answer: Answer, stopping: threading.Event) -> None:
    streamed = bool(answer.events)
    data = b"" if streamed else _bytes(answer)
    handler.send_response(answer.status)
    handler.send_header("content-type", "text/event-stream" if streamed else "application/json")
    handler.send_header("request-id", "req_fake")
    if not streamed:
        handler.send_header("content-length", str(len(data)))
    for name, value in answer.headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data if answer.hang_up is None else data[: answer.hang_up])
    handler.wfile.flush()
    for event in answer.events:
        handler.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
        handler.wfile.flush()
        stopping.wait(answer.pause)


def _bytes(answer: Answer) -> bytes:
    if isinstance(answer.body, bytes):
        return answer.body
    if answer.body is not None:
        return json.dumps(answer.body).encode()
    kind = KINDS.get(answer.status, "api_error")
    return json.dumps({"type": "error", "error": {"type": kind, "message": f"fake {kind}"}}).encode()
