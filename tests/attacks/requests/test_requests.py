"""Tests of hostile requests: to foreign host names, too large, too slow, and too many."""

import asyncio
import socket
from uuid import uuid4

import httpx
import pytest
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send
from structlog.testing import capture_logs

from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.running.lifecycle import running
from sluice.servicekit.web import request_guard
from sluice.servicekit.web.connections import MAX_HEAD, PatientProtocol
from sluice.servicekit.web.refused_requests import Refusals
from sluice.servicekit.web.request_bodies import SMALL
from sluice.servicekit.web.request_guard import BYTES_A_VALUE
from sluice.servicekit.web.request_limits import Limits
from sluice.servicekit.web.server import HttpServer
from tests.attacks.requests.raw_requests import (
    LIMITS,
    MAX_BODY,
    TIMEOUT,
    answer_body_size,
    format_head,
    send_bytes,
    serve_with_limits,
)
from tests.callers import allow_everybody
from tests.integration.operator.conftest import Operator


@pytest.fixture(autouse=True)
def _shorten_lingering_close(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_guard, "LINGER", TIMEOUT)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost:8080",
        "LOCALHOST",
        "[::1]:80",
        "dms:8081",
        "dms.",
        socket.gethostname(),
    ],
)
async def test_requests_to_own_host_names_are_accepted(host: str) -> None:
    async with serve_with_limits() as port:
        assert await send_bytes(port, format_head(host=host, connection="close")) == (
            200,
            {"size": 0},
        )


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("POST", {"origin": "http://evil.example"}, 403),
        ("POST", {"origin": "null"}, 403),
        ("DELETE", {"sec-fetch-site": "cross-site"}, 403),
        ("POST", {"origin": "http://127.0.0.1"}, 403),
        ("GET", {"origin": "http://evil.example", "sec-fetch-site": "cross-site"}, 200),
        ("POST", {"origin": "http://127.0.0.1:{port}", "sec-fetch-site": "same-origin"}, 200),
        ("POST", {}, 200),
    ],
)
async def test_cross_site_requests_that_change_data_are_refused(
    method: str, headers: dict[str, str], status: int
) -> None:
    async with serve_with_limits() as port, httpx.AsyncClient() as client:
        named = {name: value.format(port=port) for name, value in headers.items()}
        answer = await client.request(
            method, f"http://127.0.0.1:{port}/", headers=named | {"content-type": "text/plain"}
        )
    assert answer.status_code == status
    if status != 200:
        assert answer.json()["type"].endswith("foreign-request")


@pytest.mark.parametrize(
    "hosts",
    [
        ["evil.example"],
        ["127.0.0.1.evil.example"],
        ["127.0.0.1@evil.example"],
        ["127.0.0.1:80@evil.example"],
        ["127.0.0.1:port"],
        ["[::1"],
        ["127.0.0.1/evil.example"],
        ["10.0.0.1"],
        ["dms", "evil.example"],
        [],
    ],
)
async def test_request_to_a_foreign_host_name_is_refused(hosts: list[str]) -> None:
    lines = "".join(f"host: {host}\r\n" for host in hosts)
    async with serve_with_limits() as port:
        status, problem = await send_bytes(
            port, f"POST / HTTP/1.1\r\n{lines}content-length: 2\r\n\r\n{{}}".encode()
        )
    assert status == 421
    assert problem["type"] == "urn:sluice:problem:wrong-host"
    assert "SLUICE_DMS_HOSTS" in problem["detail"]


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])  # noqa: S104 - like in a container
async def test_address_of_the_connection_is_an_accepted_host_name(host: str) -> None:
    server = HttpServer(answer_body_size, host=host, port=0, limits=Limits())
    async with running(server):
        reader, writer = await asyncio.open_connection("127.0.0.2", server.port)
        writer.write(format_head(host=f"127.0.0.2:{server.port}", connection="close"))
        assert b" 200 " in await reader.readline()
        writer.close()


@pytest.mark.parametrize("chunked", [False, True])
async def test_too_large_body_is_refused_before_it_is_complete(chunked: bool) -> None:
    if chunked:
        piece = b"4000\r\n" + b"x" * 0x4000 + b"\r\n"
        data = format_head("POST", transfer_encoding="chunked") + piece * 5
    else:
        data = format_head("POST", content_length=str(300 * 1024 * 1024)) + b"x"
    async with serve_with_limits() as port:
        status, problem = await send_bytes(port, data)
    assert status == 413
    assert f"at most {MAX_BODY} bytes (SLUICE_DMS_LARGEST_BODY)" in problem["detail"]


async def test_body_with_too_many_values_is_refused() -> None:
    body = b"[" + b"[]," * (MAX_BODY // BYTES_A_VALUE) + b"1]"
    async with serve_with_limits() as port, httpx.AsyncClient() as client:
        answer = await client.post(f"http://127.0.0.1:{port}/", content=body)
    assert answer.status_code == 413
    assert "values (SLUICE_DMS_LARGEST_BODY)" in answer.json()["detail"]


async def test_refusal_is_sent_at_once_if_the_request_is_complete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(request_guard, "LINGER", 600.0)
    async with serve_with_limits() as port, httpx.AsyncClient(timeout=30) as client:
        values = b"[" * (MAX_BODY // BYTES_A_VALUE + 1)
        assert (await client.post(f"http://127.0.0.1:{port}/", content=values)).status_code == 413
        assert (
            await client.get(f"http://127.0.0.1:{port}/", headers={"host": "evil.example"})
        ).status_code == 421


async def test_body_within_the_limit_arrives_complete() -> None:
    async with serve_with_limits() as port, httpx.AsyncClient() as client:
        for content in (b"x" * MAX_BODY, b""):
            assert (await client.post(f"http://127.0.0.1:{port}/", content=content)).json() == {
                "size": len(content)
            }


async def test_request_with_a_missing_body_times_out() -> None:
    async with serve_with_limits() as port:
        status, problem = await send_bytes(port, format_head("POST", content_length="10") + b"x")
    assert status == 408
    assert "SLUICE_DMS_BODY_SECONDS" in problem["detail"]


async def test_request_with_an_incomplete_head_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PatientProtocol, "head_seconds", TIMEOUT)
    async with serve_with_limits() as port:
        assert (await send_bytes(port, b"GET / HTTP/1.1\r\nhost: 127"))[0] == 408
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        async with asyncio.timeout(30):
            assert await reader.read() == b"", (
                "a connection without a request is closed without an answer"
            )
        # A connection that has had a request times out like a new one.
        writer.close()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(format_head())
        await reader.readuntil(b'{"size":0}')
        writer.write(b"\r\n")
        async with asyncio.timeout(30):
            assert b" 200 " not in await reader.read()
        writer.close()


@pytest.mark.parametrize(
    "line", [b"x: " + b"y" * MAX_HEAD, b"x: y\r\n" * (MAX_HEAD // 6)], ids=["line", "lines"]
)
async def test_too_long_head_is_refused(line: bytes) -> None:
    async with serve_with_limits() as port:
        assert (await send_bytes(port, b"GET / HTTP/1.1\r\n" + line + b"zzzzzz"))[0] == 431


LARGE = 1024 * 1024


async def begin_request(
    port: int, content: bytes
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Begin a request whose head declares a body of ``LARGE`` bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(format_head("POST", content_length=str(LARGE)) + content)
    return reader, writer


async def test_incomplete_large_bodies_do_not_block_other_requests() -> None:
    """There is one body more than fits. Its refusal shows that the others are held in memory."""
    async with serve_with_limits(Limits(body=LARGE, body_seconds=600.0)) as port:
        idle = [await begin_request(port, b"x" * (LARGE - 1)) for _ in range(5)]
        answers = [asyncio.create_task(reader.readline()) for reader, _ in idle]
        done, waiting = await asyncio.wait(answers, timeout=30, return_when=asyncio.FIRST_COMPLETED)
        assert [b" 503 " in first.result() for first in done] == [True]
        async with httpx.AsyncClient(timeout=30) as client:
            for size in (10, SMALL, 4 * SMALL, LARGE // 2):
                answer = await client.post(f"http://127.0.0.1:{port}/", content=b"x" * size)
                assert answer.json() == {"size": size}
        for task in waiting:
            task.cancel()
        for _, writer in idle:
            writer.close()


async def test_body_takes_memory_until_its_answer_begins() -> None:
    answer, read, end = asyncio.Event(), asyncio.Semaphore(0), asyncio.Event()

    async def read_slowly(scope: Scope, receive: Receive, send: Send) -> None:
        await Request(scope, receive).body()
        read.release()
        await answer.wait()
        start: Message = {"type": "http.response.start", "status": 200, "headers": []}
        await send(start)
        await send({"type": "http.response.body", "body": b"x", "more_body": True})
        await end.wait()

    async with serve_with_limits(Limits(body=LARGE), app=read_slowly) as port:
        connections = [await begin_request(port, b"x" * LARGE) for _ in range(4)]
        async with asyncio.timeout(30):
            for _ in connections:
                await read.acquire()
            assert (
                await send_bytes(
                    port, format_head("POST", content_length=str(LARGE)) + b"x" * LARGE
                )
            )[0] == 503
            answer.set()
            for reader, _ in connections:
                await reader.readuntil(b"\r\n\r\n")
            further = await begin_request(port, b"x" * LARGE)
            assert b" 200 " in await further[0].readline()
        end.set()
        for _, writer in [*connections, further]:
            writer.close()


async def test_last_available_connection_is_answered() -> None:
    async with serve_with_limits(connections=3) as port:
        idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        assert (await send_bytes(port, format_head(connection="close")))[0] == 200
        for _, writer in idle:
            writer.close()


async def test_refused_requests_are_counted_and_logged() -> None:
    server = HttpServer(answer_body_size, host="127.0.0.1", port=0, limits=LIMITS, connections=3)
    metrics = ServiceMetrics()
    with capture_logs() as logs:
        async with running(server):
            for _ in range(2):
                await send_bytes(server.port, format_head(host="evil.example"))
            server.refusals.count_in(metrics)
            await send_bytes(server.port, format_head(host="evil.example"))
            await send_bytes(server.port, format_head("POST", content_length=str(MAX_BODY + 1)))
            await send_bytes(server.port, format_head("POST", content_length="10"))
            await send_bytes(server.port, b"GET / HTTP/1.1\r\nx: " + b"y" * MAX_HEAD)
            idle = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(3)]
            idle.append(await asyncio.open_connection("127.0.0.1", server.port))
            await idle[0][0].read()
            for _, writer in idle:
                writer.close()
    page = metrics.render().decode()
    for status, times in {421: 3, 413: 1, 408: 1, 431: 1, 503: 1}.items():
        assert f'sluice_http_refused_total{{status="{status}"}} {times}.0' in page
    refusals = [line for line in logs if line["event"] == "http.refused"]
    assert [line["status"] for line in refusals] == [
        421,
        413,
        408,
        431,
        503,
    ], "each status is logged once at a time"
    assert "evil.example" in refusals[0]["reason"]
    assert {line["peer"] for line in refusals} == {"127.0.0.1"}


def test_log_has_the_number_of_suppressed_refusals() -> None:
    refusals = Refusals(pause=0.0)
    with capture_logs() as logs:
        refusals.add(421, "other", peer="10.0.0.1")
        refusals.pause = 600.0
        for _ in range(50):
            refusals.add(421, "other", peer="10.0.0.1")
        refusals.pause = 0.0
        refusals.add(421, "other", peer="10.0.0.2", path="/" * 5_000)
    assert [line["others_since"] for line in logs] == [0, 50]
    assert len(logs[1]["path"]) == 200


async def test_incomplete_requests_take_no_threads_of_the_operator_service(
    operator: Operator,
) -> None:
    """The service answers its pages with few threads."""
    limits = Limits(body_seconds=600.0)
    async with serve_with_limits(limits, app=allow_everybody(operator.service.app)) as port:
        idle = []
        for _ in range(20):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(
                b"POST /api/v1/templates HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type:"
                b" application/json\r\ncontent-length: 1000\r\n\r\n{"
            )
            await writer.drain()
            idle.append((reader, writer))
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
            for path in ("/templates", "/healthz"):
                assert (await client.get(path)).status_code == 200
        for reader, writer in idle:
            assert not reader.at_eof(), "the server still waits for the request"
            writer.close()


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://elsewhere.test"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
@pytest.mark.parametrize("path", ["/api/v1/chains/{}/cancel", "/chains/{}/cancel", "/templates"])
async def test_cross_site_request_to_the_operator_is_refused(
    operator: Operator, path: str, headers: dict[str, str]
) -> None:
    async with (
        serve_with_limits(Limits(), app=allow_everybody(operator.service.app)) as port,
        httpx.AsyncClient() as client,
    ):
        url = f"http://127.0.0.1:{port}{path.format(uuid4())}"
        refused = await client.post(url, headers=headers)
        assert refused.status_code == 403
        assert refused.json()["type"].endswith("foreign-request")
        own = await client.post(url)
        assert "foreign-request" not in own.text


async def test_dns_rebinding_request_to_the_operator_is_refused(
    operator: Operator,
) -> None:
    """The origin and the host of the request are the same foreign name."""
    async with (
        serve_with_limits(Limits(), app=allow_everybody(operator.service.app)) as port,
        httpx.AsyncClient() as client,
    ):
        rebound = {
            "host": f"evil.example:{port}",
            "origin": f"http://evil.example:{port}",
            "sec-fetch-site": "same-origin",
        }
        url = f"http://127.0.0.1:{port}/api/v1/storages"
        answer = await client.post(url, json={}, headers=rebound)
        assert answer.status_code == 421
        assert (
            await client.get(f"http://127.0.0.1:{port}/metrics", headers=rebound)
        ).status_code == 421


async def _count_dataset_lists(operator: Operator) -> float:
    """Return how often the fake DMS, which tests share, has listed data sets."""
    metrics = (await operator.links.http("dms").get("/metrics")).text
    return sum(
        float(line.split()[-1])
        for line in metrics.splitlines()
        if "seconds_count" in line and 'route="/api/v1/datasets"' in line
    )


async def test_task_name_with_many_dots_causes_few_requests(operator: Operator) -> None:
    """Each dot could end the name of a data set, which the DMS is asked for."""
    names = {"." * 60_000: 422, "a" + "." * 3_000: 200}
    before = await _count_dataset_lists(operator)
    for name, status in names.items():
        answer = await operator.http.get("/api/v1/tasks", params={"name": name})
        assert answer.status_code == status
    assert 1 <= await _count_dataset_lists(operator) - before <= 200, (
        "the number of requests is at most the length of a name"
    )
