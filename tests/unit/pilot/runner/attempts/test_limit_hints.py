"""A tool that the kernel refuses something fails with its limit's name and value, in a real slot
process with a sandbox."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pilot.runner.attempts.limit_hints import KernelRefusals
from pilot.sandbox.process_limits import ProcessLimits
from sluice.contracts.needs import Resources
from sluice.contracts.states import ErrorClass
from tests.unit.pilot.attempts import failed, python, run
from tests.unit.pilot.builders import input_file, task
from tests.unit.pilot.runner.isolation.test_isolation import ASKING
from tests.unit.pilot.sandboxes import found_sandbox
from tests.unit.pilot.slot_runner import Runner

PROCESSES, FILES = 100, 64
#: MiB. What a job may use that asks for little memory is the runner's floor.
DISK, FLOOR = 16, 64


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runner]:
    limits = {"processes": PROCESSES, "open_files": FILES}
    sandbox = found_sandbox().model_copy(update=limits)
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
            # Root's tools are limited by control groups, which not every machine lets one make.
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
def test_a_failure_names_the_limit_that_was_met(
    limited: Runner, root: Path, code: str, disk: int, hint: str
) -> None:
    needs = Resources(ram=FLOOR // 4, disk=disk, time_limit=60.0)
    report = run(
        limited, task(root, python(code), resources=needs), [input_file(root / "in" / "a")]
    )
    error_class, message = failed(report)
    assert error_class is ErrorClass.TOOL_FAILED
    assert message.endswith(f" ({hint})"), message


def test_other_failures_name_none(limited: Runner, root: Path) -> None:
    report = run(
        limited, task(root, python("raise ValueError(7)")), [input_file(root / "in" / "a")]
    )
    assert failed(report)[1].endswith("ended with exit code 1: ValueError: 7")


#: Asks for a name of the network, as tools do, and fails.
LOOKS_UP = "import socket; socket.getaddrinfo('sluice.invalid', 80)"


def test_a_tool_that_lacks_the_network_is_told_how_to_ask_for_it(
    limited: Runner, root: Path
) -> None:
    lacking = run(limited, task(root, python(LOOKS_UP)), [input_file(root / "in" / "a")])
    assert "(tools have no network unless they ask for it" in failed(lacking)[1]
    tool = python(LOOKS_UP)
    tool["requirements"] = {**tool.get("requirements", {}), **ASKING}
    having = run(limited, task(root, tool), [input_file(root / "in" / "a")])
    assert "tools have no network" not in failed(having)[1]


CONTAINED = KernelRefusals(ProcessLimits(), largest_file=0, shared_memory=64)


@pytest.mark.parametrize(
    "said",
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
def test_last_words_on_the_network_are_known(said: str) -> None:
    assert "NetworkAccess" in CONTAINED.network_hint(said, container=False)


@pytest.mark.parametrize("said", ["", "ValueError: 7", "No such file or directory: 'host.txt'"])
def test_other_last_words_are_not_on_the_network(said: str) -> None:
    assert CONTAINED.network_hint(said, container=True) == ""
