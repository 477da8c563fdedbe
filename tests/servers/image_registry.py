"""A registry that serves one container image over plain HTTP, with the routes that a pull uses."""

import hashlib
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"


@dataclass
class ImageRegistry:
    """The registry.

    ``folder`` has the image as ``podman save --format docker-dir`` writes it. ``pulled`` lists the
    layers that clients requested, in order.
    """

    folder: Path
    pulled: list[str] = field(default_factory=list)

    def start(self) -> None:
        manifest = (self.folder / "manifest.json").read_bytes()
        layers = {layer["digest"] for layer in json.loads(manifest)["layers"]}
        registry = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self._answer(with_body=False)

            def do_GET(self) -> None:
                self._answer(with_body=True)

            def _answer(self, *, with_body: bool) -> None:
                kind, _, name = self.path.rpartition("/")
                if self.path == "/v2/":
                    self._send(b"{}", "application/json", with_body=with_body)
                elif kind == "/v2/lab/tiny/manifests":
                    self._send(manifest, _MANIFEST, with_body=with_body)
                elif kind == "/v2/lab/tiny/blobs":
                    if name in layers:
                        registry.pulled.append(name)
                    blob = (registry.folder / name.removeprefix("sha256:")).read_bytes()
                    self._send(blob, "application/octet-stream", with_body=with_body)
                else:
                    self.send_error(404)

            def _send(self, body: bytes, kind: str, *, with_body: bool) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.send_header(
                    "Docker-Content-Digest", f"sha256:{hashlib.sha256(body).hexdigest()}"
                )
                self.end_headers()
                if with_body:
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    @property
    def name(self) -> str:
        return f"localhost:{self._server.server_port}"

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
