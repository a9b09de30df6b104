"""A reverse proxy as a team puts one in front: it takes a path off, and says who asked and how."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

OF_THE_CONNECTION = {"connection", "keep-alive", "transfer-encoding", "date", "server"}


@contextmanager
def in_front(host: str, port: int, *, below: str, of: int) -> Iterator[None]:
    """Listen on ``host``:``port``; what is asked for below the path ``below`` goes to the port ``of`` without it."""

    class Passes(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if not self.path.startswith(f"{below}/"):
                self.send_error(404, "The proxy has nothing here")
                return
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name: value for name, value in self.headers.items() if name.lower() not in OF_THE_CONNECTION}
            given = self.headers.get("X-Forwarded-For")
            headers["X-Forwarded-For"] = ", ".join(filter(None, (given, self.client_address[0])))
            headers["X-Forwarded-Proto"] = "http"
            with closing(http.client.HTTPConnection("127.0.0.1", of, timeout=60)) as behind:
                behind.request(self.command, self.path.removeprefix(below), body, headers)
                answer = behind.getresponse()
                whole = answer.read()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in OF_THE_CONNECTION | {"content-length"}:
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(whole)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(whole)

        do_POST = do_HEAD = do_GET

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer((host, port), Passes)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
