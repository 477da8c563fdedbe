"""The command's REST client describes servers that are away or do not answer as Sluice does."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sluice.cwl_runner.command import main
from sluice.cwl_runner.rest import RestConnection

Serve = Callable[[bytes, int], str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serve an answer of any bytes to a number of connections, then refuse connections."""
    threads: list[threading.Thread] = []

    def start(answer: bytes, connections: int) -> str:
        server = socket.create_server(("127.0.0.1", 0))

        def run() -> None:
            for remaining in reversed(range(connections)):
                connection, _ = server.accept()
                with connection:
                    connection.recv(65536)
                    if not remaining:
                        server.close()  # before the client can connect again
                    connection.sendall(answer)

        threads.append(threading.Thread(target=run))
        threads[-1].start()
        return f"http://127.0.0.1:{server.getsockname()[1]}"

    yield start
    for thread in threads:
        thread.join()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n", "its answer is not HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "it closes the connection within"),
    ],
)
def test_broken_answer_is_described(serve: Serve, answer: bytes, reason: str) -> None:
    with (
        closing(RestConnection(serve(answer, 1))) as rest,
        pytest.raises(ConnectionError, match=f"cannot be reached: {reason}"),
    ):
        rest.get("/chains")


@pytest.mark.parametrize(
    ("answers", "reason"),
    [(1, "Connection refused"), (2, "it closes the connection without an answer")],
)
def test_system_that_ends_while_a_request_is_repeated_is_described(
    serve: Serve, answers: int, reason: str
) -> None:
    url = serve(b"", answers)
    with (
        closing(RestConnection(url)) as rest,
        pytest.raises(ConnectionError, match=f"^the system at {url} cannot be reached: {reason}"),
    ):
        rest.get("/chains")


@pytest.mark.parametrize(
    ("status", "body"),
    [
        ("200 OK", b"<html>Welcome</html>"),
        ("200 OK", b""),
        ("200 OK", b"[" * 100_000),
        ("302 Found", b"<a href=/login>Sign in</a>"),
        ("502 Bad Gateway", b"<h1>502 Bad Gateway</h1>"),
    ],
    ids=["page", "empty", "nested too deep", "redirect", "error page of a proxy"],
)
def test_answer_that_is_not_json_ends_the_command_with_one_message(
    serve: Serve, tmp_path: Path, capfd: pytest.CaptureFixture[str], status: str, body: bytes
) -> None:
    tool = {"cwlVersion": "v1.2", "class": "CommandLineTool", "inputs": {}, "outputs": {}}
    process = tmp_path / "true.cwl"
    process.write_text(json.dumps(tool | {"baseCommand": "true"}))
    url = serve(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body, 1)
    assert main(["--url", url, str(process)]) == 1
    assert capfd.readouterr().err == (
        f"sluice: GET {url}/api/v1/storages was answered with status {status[:3]} and a body that"
        " is not JSON: check the address, and whether a proxy (https_proxy, no_proxy) or a sign-in"
        " page answers in place of Sluice\n"
    )


def test_answers_without_content_and_empty_logs_are_read(serve: Serve) -> None:
    with closing(RestConnection(serve(b"HTTP/1.1 204 No Content\r\n\r\n", 1))) as rest:
        assert rest.delete("/datasets/1") is None
    with closing(RestConnection(serve(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 1))) as rest:
        assert rest.text("/jobs/1/log") == ""


def _make_answer(body: bytes, media: str) -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {media}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def test_page_in_place_of_a_log_is_refused(serve: Serve) -> None:
    with (
        closing(RestConnection(serve(_make_answer(b"<h1>Sign in</h1>", "text/html"), 1))) as rest,
        pytest.raises(ConnectionError, match="body that is not plain text: check the address"),
    ):
        rest.text("/jobs/1/log")


@pytest.mark.parametrize("body", [b'{"up": true}', b'{"tasks": [{"name": "a"}]}'])
def test_json_of_another_program_is_refused(serve: Serve, body: bytes) -> None:
    with (
        closing(RestConnection(serve(_make_answer(body, "application/json"), 1))) as rest,
        pytest.raises(ConnectionError, match=r"no field .(tasks|task_uid).: check the address"),
    ):
        rest.get("/tasks")["tasks"][0]["task_uid"]
