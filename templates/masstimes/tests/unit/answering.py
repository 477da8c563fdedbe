"""A web server that gives prepared answers and records its requests."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

#: Status, headers and body of an answer.
Response = tuple[int, dict[str, str], str | bytes]


@dataclass
class Server:
    """A server; ``answer`` gets path and query, and each list has an entry for each request."""

    url: str
    answer: Callable[[str], Response] = field(default=lambda _: (404, {}, ""))
    requested_paths: list[str] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)


@contextmanager
def run_answering_server() -> Iterator[Server]:
    server = Server("")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.requested_paths.append(self.path)
            server.agents.append(self.headers["User-Agent"])
            server.headers.append(dict(self.headers))
            server.bodies.append(self.rfile.read(int(self.headers["Content-Length"] or 0)).decode())
            status, headers, content = server.answer(self.path)
            body = content.encode() if isinstance(content, str) else content
            self.send_response(status)
            for name, value in {"Content-Type": "text/html; charset=utf-8", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        server.url = f"http://127.0.0.1:{listening.server_address[1]}"
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()
