"""The command's REST client describes servers that are away or do not speak HTTP."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from sluice.cwl_runner.rest import Rest

Serve = Callable[[bytes, int], str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serve an answer of any bytes to a number of connections, then refuse connections."""
    threads: list[threading.Thread] = []

    def start(answer: bytes, connections: int) -> str:
        server = socket.create_server(("127.0.0.1", 0))

        def run() -> None:
            with server:
                for _ in range(connections):
                    connection, _ = server.accept()
                    with connection:
                        connection.recv(65536)
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
        closing(Rest(serve(answer, 1))) as rest,
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
        closing(Rest(url)) as rest,
        pytest.raises(ConnectionError, match=f"^the system at {url} cannot be reached: {reason}"),
    ):
        rest.get("/chains")
