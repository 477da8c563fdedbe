"""Sites that redirect or break the crawler do not affect the crawl of other sites."""

import gzip
import itertools
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

MOVED, WRONG, FINE, AWAY, DOWN, HUGE, PACKED, ROUND, SLOW, SLOWEST = (
    f"127.77.0.{number}" for number in range(1, 11)
)
#: Host, path and time.
REQUESTS = list[tuple[str, str, float]]

RULES = b"User-agent: *\nDisallow: /private\n"
LARGE = b"#" * (30 * 2**20) + b"\n"
ROBOTS = {
    HUGE: (b"#\0\x80\x81\n" * 300 + RULES + LARGE, ""),
    PACKED: (gzip.compress(RULES + LARGE), "gzip"),
    AWAY: (RULES, ""),
    SLOW: (b"User-agent: *\nCrawl-delay: 100\n", ""),
    SLOWEST: (b"User-agent: *\nCrawl-delay: 1e9\n", ""),
}


class Sites(BaseHTTPRequestHandler):
    """Answer for all hosts; ``requests`` records each request."""

    requests: REQUESTS

    def do_GET(self) -> None:
        host = (self.headers["Host"] or "").partition(":")[0]
        self.requests.append((host, self.path, time.monotonic()))
        port = int(self.server.server_address[1])  # type: ignore[index] # of TCP
        if host in {MOVED, ROUND} and self.path.startswith(("/robots.txt", "/hop")):
            self._answer(302, b"", Location=_get_next_hop(host, self.path, port))
        elif self.path == "/robots.txt":
            self._answer_robots(host)
        elif host == WRONG and self.path == "/":
            link = f"<a href='http://..{WRONG}:{port}/x'>x</a><a href='/odd'>odd</a>"
            self._answer(200, f"<html>{link}</html>".encode(), type="text/html")
        elif host == WRONG:
            self._answer(200, b"<html>\xb1\xb6 \xff\xfe", type="text/html; charset=undefined")
        else:
            links = b"<a href='/private/'>1</a><a href='/times'>2</a>"
            self._answer(200, b"<html>Sunday 9:00" + links + b"</html>", type="text/html")

    def _answer_robots(self, host: str) -> None:
        if host == DOWN:
            self._answer(503, b"down for maintenance")
        elif host in ROBOTS:
            body, encoding = ROBOTS[host]
            self._answer(200, body, type="text/plain", **{"Content-Encoding": encoding})
        else:
            self._answer(404, b"User-agent: *\nDisallow: /\n", type="text/plain")

    def _answer(self, status: int, body: bytes, type: str = "", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": type, **headers}.items():
            if value:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(ConnectionError):  # The client may close the connection early.
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def hostile_sites() -> Iterator[tuple[int, REQUESTS]]:
    """Yield a port and the list of requests."""
    Sites.requests = []
    port = 0
    with ExitStack() as serving:
        for number in range(1, 11):
            server = ThreadingHTTPServer((f"127.77.0.{number}", port), Sites)
            serving.enter_context(server)
            port = server.server_address[1]
            threading.Thread(target=server.serve_forever, daemon=True).start()
            serving.callback(server.shutdown)
        yield port, Sites.requests


def _get_next_hop(host: str, path: str, port: int) -> str:
    """Return the target of a redirect of robots.txt; ``MOVED`` leads to another host at last."""
    hop = int(path.removeprefix("/hop").replace("/robots.txt", "0")) + 1
    return f"http://{AWAY}:{port}/robots.txt" if (host, hop) == (MOVED, 5) else f"/hop{hop}"


def crawl(tmp_path: Path, port: int, sites: dict[str, str], *, delays: str) -> dict[str, Any]:
    """Crawl the sites and return their summaries."""
    parishes = []
    for name, host in sites.items():
        path = tmp_path / f"{name}.json"
        site = f"http://{host}:{port}/"
        path.write_text(json.dumps({"id": name, "name": name, "site": site}))
        parishes.append(path)
    out = tmp_path / "out"
    program = str(Path(sys.executable).with_name("mt-crawl"))
    command = [program, *map(str, parishes), "--out", str(out), "--delays", delays]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return {name: json.loads((out / f"{name}.summary.json").read_bytes()) for name in sites}


def test_crawls_of_hostile_sites_end_and_obey_robots_txt(
    tmp_path: Path, hostile_sites: tuple[int, REQUESTS]
) -> None:
    port, requests = hostile_sites
    sites = {"moved": MOVED, "wrong": WRONG, "fine": FINE, "down": DOWN}
    sites |= {"huge": HUGE, "packed": PACKED, "round": ROUND}
    ends = crawl(tmp_path, port, sites, delays="0")
    assert {
        name: (each["ended"], each["pages"], each["robots"]) for name, each in ends.items()
    } == {
        "moved": ("done", 2, 1),
        "wrong": ("done", 2, 0),
        "fine": ("done", 3, 0),
        "down": ("robots", 0, 1),
        "huge": ("done", 2, 1),
        "packed": ("done", 2, 1),
        "round": (
            "done",
            3,
            0,
        ),  # After more than five redirects the site counts as one without robots.txt.
    }
    assert {path for host, path, _ in requests if host == DOWN} == {"/robots.txt"}
    assert {path for host, path, _ in requests if host == AWAY} == {"/robots.txt"}
    hops = [path for host, path, _ in requests if host == ROUND and path.startswith("/hop")]
    assert hops == ["/hop1", "/hop2", "/hop3", "/hop4", "/hop5"]


def test_crawl_delay_is_obeyed_up_to_the_longest_delay(
    tmp_path: Path, hostile_sites: tuple[int, REQUESTS]
) -> None:
    port, requests = hostile_sites
    factor = 0.005
    ends = crawl(tmp_path, port, {"slow": SLOW, "slowest": SLOWEST}, delays=f"{factor}")
    assert {name: each["pages"] for name, each in ends.items()} == {"slow": 3, "slowest": 3}
    for host, delay in ((SLOW, 100), (SLOWEST, 300)):
        times = [when for asked_host, _, when in requests if asked_host == host]
        gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
        assert len(gaps) == 3
        assert min(gaps) >= delay * factor
