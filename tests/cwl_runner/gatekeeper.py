"""An HTTP proxy in front of a system that refuses the requests that a test chooses."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from sluice.network.credentials import forget_token, keep_token, token_for
from sluice.network.http_clients import send_request

#: Method and path → the status of a refusal, 0 for a closed connection, None to forward.
Rule = Callable[[str, str], int | None]


@contextmanager
def open_gatekeeper(url: str, rule: Rule) -> Iterator[str]:
    """Yield the address of the proxy, for which the token of the system is stored, too."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _handle(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            status = rule(self.command, self.path)
            if status == 0:
                self.close_connection = True
                return
            if status is None:
                kinds = {
                    key: value
                    for key, value in self.headers.items()
                    if key in ("Content-Type", "Accept", "Authorization")
                }
                answer = send_request(
                    self.command,
                    url + self.path,
                    content=body,
                    headers=kinds,
                    timeout=60,
                )
                self._answer(answer.status_code, answer.content)
            else:
                self._answer(
                    status, b'{"title": "refused", "detail": "the gatekeeper refuses this"}'
                )

        do_GET = do_POST = do_DELETE = _handle

        def _answer(self, status: int, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    address, token = f"http://127.0.0.1:{server.server_port}", token_for(url) or ""
    keep_token(address, token)
    try:
        yield address
    finally:
        forget_token(address, token)
        server.shutdown()
        thread.join()
        server.server_close()
