"""Tests that a tool that the kernel refuses a resource fails with the name and value of the
limit."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pilot.isolation.sandbox.process_limits import ProcessLimits
from pilot.runner.attempts.limit_hints import KernelLimits
from sluice.contracts.common.states import ErrorClass
from sluice.contracts.jobs.needs import Resources
from tests.unit.pilot.attempts import get_error, make_python_tool, run
from tests.unit.pilot.builders import make_task, write_input
from tests.unit.pilot.network_access import ASKING
from tests.unit.pilot.sandboxes import get_sandbox
from tests.unit.pilot.slot_runner import Runner

PROCESSES, FILES = 100, 64
#: MiB. A job that requests little memory may use the runner's floor.
DISK, FLOOR = 16, 64


@pytest.fixture(scope="module")
def limited_runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    limits = {"processes": PROCESSES, "open_files": FILES}
    sandbox = get_sandbox().model_copy(update=limits)
    runner = Runner(tmp_path_factory.mktemp("limited"), settings={"sandbox": sandbox})
    yield runner
    runner.close()


@pytest.mark.parametrize(
    ("code", "disk", "hint"),
    [
        (
            f"kept = [open('/dev/null') for _ in range({FILES})]",
            0,
            f"if a file was too many: each process may have {FILES} open"
            " (SLUICE_PILOT_SANDBOX_OPEN_FILES)",
        ),
        (
            f"import os; os.truncate(os.memfd_create('x'), {FLOOR} + 1 << 20)",
            DISK,
            f"no file of it may be larger than {FLOOR} MiB, as much as it has of disk (tmpdirMin"
            " and outdirMin) or of memory (ramMin)",
        ),
        (
            f"import os; file = os.open('/dev/shm/large', os.O_CREAT | os.O_WRONLY);"
            f" os.posix_fallocate(file, 0, {FLOOR} + 1 << 20)",
            0,
            f"if that was /dev/shm: it may hold {FLOOR} MiB, as much as its memory (ramMin)",
        ),
        (
            """import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for _ in range(1000):
    if libc.inotify_init1(0) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()) + ': inotify_init1')
""",
            0,
            "slots share what the pilot's user may watch of files (the node's"
            " fs.inotify.max_user_instances and max_user_watches)",
        ),
        (
            # Control groups limit the tools of root, and not every machine allows them.
            "import errno, os; raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))",
            0,
            f"if a process or thread was too many: it may have {PROCESSES} at a time"
            " (SLUICE_PILOT_SANDBOX_PROCESSES)",
        ),
        (
            "import socket; socket.getaddrinfo('server.example', 80)",
            0,
            "tools have no network unless they ask for it: 'requirements: {NetworkAccess:"
            " {networkAccess: true}}'",
        ),
    ],
    ids=["open files", "large file", "shared memory", "watches", "processes", "network"],
)
def test_failure_names_the_limit_that_was_reached(
    limited_runner: Runner, root: Path, code: str, disk: int, hint: str
) -> None:
    needs = Resources(ram=FLOOR // 4, disk=disk, time_limit=60.0)
    report = run(
        limited_runner,
        make_task(root, make_python_tool(code), resources=needs),
        [write_input(root / "in" / "a")],
    )
    error_class, message = get_error(report)
    assert error_class is ErrorClass.TOOL_FAILED
    assert message.endswith(f" ({hint})"), message


def test_failure_without_a_limit_has_no_hint(limited_runner: Runner, root: Path) -> None:
    report = run(
        limited_runner,
        make_task(root, make_python_tool("raise ValueError(7)")),
        [write_input(root / "in" / "a")],
    )
    assert get_error(report)[1].endswith("ended with exit code 1: ValueError: 7")


#: Looks up a host name and fails.
LOOKS_UP = "import socket; socket.getaddrinfo('sluice.invalid', 80)"


def test_message_says_how_to_request_network_access(limited_runner: Runner, root: Path) -> None:
    report_without_network = run(
        limited_runner,
        make_task(root, make_python_tool(LOOKS_UP)),
        [write_input(root / "in" / "a")],
    )
    assert "(tools have no network unless they ask for it" in get_error(report_without_network)[1]
    tool = make_python_tool(LOOKS_UP)
    tool["requirements"] = {**tool.get("requirements", {}), **ASKING}
    report_with_network = run(
        limited_runner, make_task(root, tool), [write_input(root / "in" / "a")]
    )
    assert "tools have no network" not in get_error(report_with_network)[1]


CONTAINED = KernelLimits(ProcessLimits(), largest_file=0, shared_memory=64)


@pytest.mark.parametrize(
    "last_line",
    [
        "curl: (6) Could not resolve host: example.org",
        "curl: (7) Failed to connect to 10.0.0.1 port 80 after 0 ms: Couldn't connect to server",
        "wget: unable to resolve host address 'example.org'",
        "fatal: unable to access 'https://example.org/': Could not resolve host: example.org",
        "java.net.UnknownHostException: example.org",
        "dial tcp: lookup example.org: no such host",
        "Error: getaddrinfo EAI_AGAIN example.org",
        "connect: Network is unreachable",
        "psycopg.OperationalError: connection refused",
        "socket.gaierror: [Errno -3] Temporary failure in name resolution",
    ],
)
def test_network_errors_in_the_last_line_are_recognized(last_line: str) -> None:
    assert "NetworkAccess" in CONTAINED.create_network_hint(last_line, container=False)


@pytest.mark.parametrize(
    "last_line", ["", "ValueError: 7", "No such file or directory: 'host.txt'"]
)
def test_other_last_lines_give_no_network_hint(last_line: str) -> None:
    assert CONTAINED.create_network_hint(last_line, container=True) == ""
