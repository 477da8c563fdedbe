"""Parishes that share a host are crawled one after another, each below its own path."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path

import pytest

HOST = "127.78.0.1"
DELAYS = 0.04
#: The first delay is 5 s, and each quick answer halves it.
FIRST = 5.0 * DELAYS
PARISHES = ("a", "b", "c", "d")
#: The path, the start and the end of a request.
REQUEST = tuple[str, float, float]


class Host(BaseHTTPRequestHandler):
    """A host whose pages link to the pages of all parishes."""

    requests: list[REQUEST]

    def do_GET(self) -> None:
        start = time.monotonic()
        names = "" if self.path == "/robots.txt" else "1 2 3"
        links = [f"<a href='/~{each}/{name}'>x</a>" for each in PARISHES for name in names.split()]
        body = f"<html>Sunday 9:00 {''.join(links)}</html>".encode() if names else b""
        self.requests.append((self.path, start, time.monotonic()))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    Host.requests = []
    with ThreadingHTTPServer((HOST, 0), Host) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def test_parishes_of_one_host_share_robots_txt_and_delay(tmp_path: Path, port: int) -> None:
    files = []
    for each in PARISHES:
        files.append(tmp_path / f"{each}.json")
        site = f"http://{HOST}:{port}/~{each}/1"
        files[-1].write_text(json.dumps({"id": each, "name": each, "site": site}))
    program = str(Path(sys.executable).with_name("mt-crawl"))
    command = [program, *map(str, files), "--out", str(tmp_path), "--delays", str(DELAYS)]
    subprocess.run(command, check=True, timeout=120)

    paths = [path for path, _, _ in Host.requests]
    pages = [f"/~{each}/{name}" for each in PARISHES for name in "123"]
    assert paths == ["/robots.txt", *pages]
    for each in PARISHES:
        lines = (tmp_path / f"{each}.jsonl").read_text().splitlines()
        assert [json.loads(line)["url"][-5:] for line in lines] == [
            f"/~{each}/{name}" for name in "123"
        ]
    gaps = [later[1] - earlier[2] for earlier, later in pairwise(Host.requests)]
    assert min(gaps) > 0, "one request at a time"
    assert gaps[0] >= FIRST / 2
