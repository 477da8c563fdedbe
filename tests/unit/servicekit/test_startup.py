"""Tests of how a service waits for its dependencies and starts."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import cast

import asyncpg
import httpx
import pytest
from starlette.responses import PlainTextResponse

from sluice.contracts.common.problems import NotAvailable
from sluice.network.http_clients import http_client
from sluice.servicekit.running import startup
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.transport.base import TransportUnavailable
from sluice.servicekit.web import http
from sluice.servicekit.web.http import Health
from sluice.servicekit.web.server import HttpServer
from sluice.servicekit.web.startup_gate import Gate


class LateComponent:
    """A component that raises the given errors and then starts."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.tries = 0

    async def start(self) -> None:
        self.tries += 1
        if self.failures:
            raise self.failures.pop(0)

    async def stop(self) -> None:
        return None


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startup, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(startup, "MAX_PAUSE", 0.002)


async def test_startup_is_retried_after_errors_that_may_go_away() -> None:
    component = LateComponent(
        NotAvailable("database away"),
        TransportUnavailable("broker away"),
        asyncpg.InvalidPasswordError("no such login yet"),
        asyncpg.InvalidCatalogNameError("no such database yet"),
        asyncpg.InsufficientPrivilegeError("not allowed yet"),
        ConnectionRefusedError("refused"),
        TimeoutError(),
    )
    failures: list[tuple[str, str]] = []
    await startup.start_when_possible(
        component, what="database", tell=lambda what, why: failures.append((what, why))
    )
    assert component.tries == 8
    assert failures[0] == ("database", "database away")
    assert failures[-1] == ("database", "TimeoutError")


async def test_startup_is_not_retried_after_programming_errors() -> None:
    component = LateComponent(KeyError("a mistake"))
    with pytest.raises(KeyError):
        await startup.start_when_possible(component, what="x", tell=lambda what, why: None)
    assert component.tries == 1


async def test_gate_names_missing_dependencies_until_it_opens() -> None:
    gate = Gate("ledger")
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(gate), base_url="http://ledger"
    ) as client:
        gate.tell("database", "refused")
        assert (await client.get("/healthz")).status_code == 200
        ready = await client.get("/readyz")
        assert (ready.status_code, ready.json()) == (503, {"database": "refused"})
        other = await client.post("/api/v1/entries", json={})
        assert other.status_code == 503
        assert other.headers["content-type"] == "application/problem+json"
        assert other.json()["detail"] == "ledger is starting; it waits for: database (refused)"
        gate.open(PlainTextResponse("open"))
        assert (await client.get("/readyz")).text == "open"


async def test_health_report_limits_the_time_of_a_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "CHECK_LIMIT", 0.01)

    async def hang() -> None:
        await asyncio.Event().wait()

    async def succeed() -> None:
        return None

    async def raise_error() -> None:
        raise OSError("away")

    report = await Health({"a": hang, "b": succeed, "c": raise_error}).report()
    assert report == {"a": "no answer within 0.01 s", "b": "ok", "c": "away"}


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield int(other.getsockname()[1])


async def test_error_names_the_port_that_is_in_use(taken: int) -> None:
    with pytest.raises(
        OSError, match=f"cannot listen on 127.0.0.1:{taken}: Address already in use"
    ):
        await HttpServer(PlainTextResponse("x"), host="127.0.0.1", port=taken).start()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
async def test_server_listens_on_the_given_host(host: str) -> None:
    server = HttpServer(PlainTextResponse("here"), host=host, port=0)
    async with running(server), httpx.AsyncClient() as client:
        address = f"[{host}]" if ":" in host else host
        assert (await client.get(f"http://{address}:{server.port}/")).text == "here"


async def test_server_keeps_connections_longer_than_clients() -> None:
    """Otherwise a request on a connection that the server closes at the same time would have no
    answer."""
    server = HttpServer(PlainTextResponse("here"), host="127.0.0.1", port=0)
    async with running(server), http_client(f"http://127.0.0.1:{server.port}") as client:
        transport = cast(httpx.AsyncHTTPTransport, client._transport)
        expiry = transport._pool._keepalive_expiry
        assert expiry is not None
        assert server._server.config.timeout_keep_alive > 2 * expiry


HANGING_PROGRAM = """
import threading
from sluice.servicekit.running import process
process.THREADS_LIMIT = 0.1
threading.Thread(target=threading.Event().wait, name="storage that hangs").start()
process._end_despite_threads(0)
"""


def test_thread_that_hangs_does_not_keep_the_process_alive() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HANGING_PROGRAM],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "storage that hangs" in done.stdout + done.stderr
