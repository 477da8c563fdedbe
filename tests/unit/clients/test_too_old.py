"""Requests to a system of an older release, which lacks routes, say that it is too old."""

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import pytest

from sluice.clients.operator import OperatorClient
from sluice.contracts.common.problems import NotFound
from sluice.cwl_runner.rest import RequestRefusedError, RestConnection

PROBLEM = "application/problem+json"
#: Answer of a system to an unknown address.
ANSWER = json.dumps(
    {
        "type": "about:blank",
        "title": "Not Found",
        "status": 404,
        "detail": "The requested URL was not found on the server.",
    }
)


class _OldSystem(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.send_response(404)
        self.send_header("Content-Type", PROBLEM)
        self.send_header("Content-Length", str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _OldSystem) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"


async def test_command_says_that_the_system_is_too_old_and_names_the_release() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(404, text=ANSWER, headers={"content-type": PROBLEM})

    transport = httpx.MockTransport(answer)
    async with httpx.AsyncClient(transport=transport, base_url="http://old:8080") as http:
        with pytest.raises(NotFound) as refused:
            await OperatorClient(http).list_notices()
    assert refused.value.detail.startswith(
        "the system at http://old:8080 is too old for this command: it does not know GET"
        " /api/v1/attention. Upgrade it to release 0."
    )


def test_cwl_runner_says_that_the_system_is_too_old_and_names_the_release(url: str) -> None:
    with closing(RestConnection(url)) as rest, pytest.raises(RequestRefusedError) as refused:
        rest.post("/run-templates", {})
    assert str(refused.value).startswith(
        f"the system at {url} is too old for this command: it does not know POST"
        " /api/v1/run-templates. Upgrade it to release 0."
    )
