"""Sites that lead the crawler elsewhere, or break it: each ends, and the others go on."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

BAIT, WRONG, FINE, AWAY, DOWN = (f"127.77.0.{number}" for number in range(1, 6))
ASKED = list[tuple[str, str]]


@pytest.fixture
def asked() -> Iterator[tuple[int, ASKED]]:
    """A port, and which host was asked for what there."""
    found: ASKED = []

    class Sites(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host = (self.headers["Host"] or "").partition(":")[0]
            found.append((host, self.path))
            robots = self.path == "/robots.txt"
            if host == BAIT and robots:
                self._answer(302, b"", Location=f"http://{AWAY}:{port}/admin?delete=all")
            elif host == DOWN and robots:
                self._answer(503, b"down for maintenance")
            elif robots:
                self._answer(404, b"User-agent: *\nDisallow: /\n", type="text/plain")
            elif host == WRONG and self.path == "/":
                link = f"<a href='http://..{WRONG}:{port}/x'>x</a><a href='/odd'>odd</a>"
                self._answer(200, f"<html>{link}</html>".encode(), type="text/html")
            elif host == WRONG:
                self._answer(200, b"<html>\xb1\xb6 \xff\xfe", type="text/html; charset=undefined")
            else:
                self._answer(200, b"<html>Sunday 9:00</html>", type="text/html")

        def _answer(self, status: int, body: bytes, type: str = "", **headers: str) -> None:
            self.send_response(status)
            for name, value in {"Content-Type": type, **headers}.items():
                if value:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    port = 0
    with ExitStack() as serving:
        for host in (BAIT, WRONG, FINE, AWAY, DOWN):
            server = serving.enter_context(ThreadingHTTPServer((host, port), Sites))
            port = server.server_address[1]
            threading.Thread(target=server.serve_forever, daemon=True).start()
            serving.callback(server.shutdown)
        yield port, found


def test_each_ends_and_no_other_host_is_asked(tmp_path: Path, asked: tuple[int, ASKED]) -> None:
    port, requests = asked
    parishes = []
    for name, host in (("bait", BAIT), ("wrong", WRONG), ("fine", FINE), ("down", DOWN)):
        path = tmp_path / f"{name}.json"
        site = f"http://{host}:{port}/"
        path.write_text(json.dumps({"id": name, "name": name, "site": site}))
        parishes.append(path)
    out = tmp_path / "out"
    program = str(Path(sys.executable).with_name("mt-crawl"))
    command = [program, *map(str, parishes), "--out", str(out), "--delays", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    ends = {name: json.loads((out / f"{name}.summary.json").read_bytes()) for name in
            ("bait", "wrong", "fine", "down")}  # fmt: skip
    assert {name: each["ended"] for name, each in ends.items()} == {
        "bait": "done",
        "wrong": "done",
        "fine": "done",
        "down": "robots",
    }
    assert {name: each["pages"] for name, each in ends.items()} == {
        "bait": 1,
        "wrong": 2,
        "fine": 1,
        "down": 0,
    }
    assert {path for host, path in requests if host == DOWN} == {"/robots.txt"}
    assert AWAY not in {host for host, _ in requests}
