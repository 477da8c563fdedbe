"""Tests of which addresses tools in a sandbox reach: none by default, the Internet on request, and
the node and its neighbours only where an operator allows them."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
import pytest

from pilot.isolation.node.sandboxes import with_network
from pilot.isolation.sandbox.network import build_resolver_settings, check_networks
from pilot.isolation.sandbox.sandbox import Sandbox
from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from tests.needs import ROOT_RIGHTS, TUNNELS
from tests.unit.pilot.attempts import read_log, run
from tests.unit.pilot.builders import make_task, make_tool, write_input
from tests.unit.pilot.inner_workflows import wrap_in_workflow
from tests.unit.pilot.sandboxes import get_sandbox
from tests.unit.pilot.slot_runner import Runner, has_ended
from tests.waiting import wait_until

#: Tries to connect to each of its arguments.
_CONNECT = """
import socket, sys
for address in sys.argv[2:]:
    try:
        socket.create_connection((address, int(sys.argv[1])), 3).close()
        print(address, 'reached')
    except OSError as error:
        print(address, error.strerror or error)
"""

#: Sends a datagram to the address and the port that it is given.
_SEND = """
import errno, socket, sys
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
out.sendto(b"a question", (sys.argv[1], int(sys.argv[2])))
# The datagram has been carried when this connection is refused.
assert socket.socket().connect_ex(("10.0.2.3", 1)) == errno.ENETUNREACH
print("sent it")
"""


@pytest.fixture(scope="module")
def listener() -> Iterator[int]:
    """Return the port of a server that listens at all addresses of this machine."""
    with socket.create_server(("0.0.0.0", 0)) as server:  # noqa: S104 - a tool must not reach it
        yield server.getsockname()[1]


def find_own_address() -> str:
    """Return an address of this machine in a network."""
    return next(
        address.address
        for addresses in psutil.net_if_addrs().values()
        for address in addresses
        if address.family == socket.AF_INET and not address.address.startswith("127.")
    )


def make_connecting_tool(port: int, *addresses: str, network: bool) -> dict[str, Any]:
    return make_tool(
        [sys.executable, "-I", "-c"],
        arguments=[_CONNECT, str(port), *addresses],
        requirements={"NetworkAccess": {"networkAccess": network}},
    )


def run_network_probe(runner: Runner, root: Path, process: dict[str, Any]) -> dict[str, str]:
    report = run(runner, make_task(root, process), [write_input(root / "in" / "a.dat")])
    assert report.outcome is AttemptOutcome.FINISHED, report.message
    text = Path(report.outputs[0].url.removeprefix("file://")).read_text()
    return dict(line.split(" ", 1) for line in text.splitlines())


@pytest.fixture
def slot(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Runner]:
    """Start a slot in the given sandbox, or in a sandbox whose network reaches the given
    addresses."""
    sandbox = (
        request.param
        if isinstance(request.param, Sandbox)
        else make_networked_sandbox(*request.param)
    )
    runner = Runner(tmp_path / "pilot", settings={"sandbox": sandbox})
    yield runner
    runner.close()


def make_networked_sandbox(*allowed: str) -> Sandbox:
    sandbox_with_network = with_network(get_sandbox(), "required", allowed)
    assert sandbox_with_network.network is not None, sandbox_with_network.no_network
    return sandbox_with_network


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a workflow"])
@pytest.mark.needs(TUNNELS)
@pytest.mark.parametrize("slot", [()], indirect=True)
def test_tool_without_network_access_reaches_no_address(
    slot: Runner, root: Path, listener: int, *, inside: bool
) -> None:
    process = make_connecting_tool(listener, "127.0.0.1", find_own_address(), network=False)
    results = run_network_probe(slot, root, wrap_in_workflow(process) if inside else process)
    assert set(results.values()) == {"Connection refused", "Network is unreachable"}


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a workflow"])
@pytest.mark.needs(TUNNELS)
@pytest.mark.parametrize("slot", [()], indirect=True)
def test_tool_with_network_access_reaches_neither_the_node_nor_private_addresses(
    slot: Runner, root: Path, listener: int, *, inside: bool
) -> None:
    """10.0.2.2 is the loopback address of the node in slirp4netns."""
    private = ("10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1")
    process = make_connecting_tool(
        listener, "127.0.0.1", "10.0.2.2", find_own_address(), *private, network=True
    )
    results = run_network_probe(slot, root, wrap_in_workflow(process) if inside else process)
    assert "reached" not in results.values()
    # There is a network that refuses these addresses.
    assert {results[address] for address in (find_own_address(), *private)} == {
        "Operation not permitted"
    }


@pytest.mark.needs(TUNNELS)
@pytest.mark.parametrize("slot", [(f"{find_own_address()}/32",)], indirect=True)
def test_tool_reaches_the_addresses_that_an_operator_allows(
    slot: Runner, root: Path, listener: int
) -> None:
    process = make_connecting_tool(listener, find_own_address(), "127.0.0.1", network=True)
    assert run_network_probe(slot, root, process) == {
        find_own_address(): "reached",
        "127.0.0.1": "Connection refused",
    }


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a workflow"])
@pytest.mark.needs(TUNNELS)
@pytest.mark.parametrize("slot", [(f"{find_own_address()}/32",)], indirect=True)
def test_answers_are_not_delivered_after_the_tool_has_ended(
    slot: Runner, root: Path, *, inside: bool
) -> None:
    """They would reach the next tool that has the same port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((find_own_address(), 0))
        server.settimeout(20)
        process = make_tool(
            [sys.executable, "-I", "-c"],
            arguments=[_SEND, *map(str, server.getsockname())],
            requirements={"NetworkAccess": {"networkAccess": True}},
        )
        assert run_network_probe(slot, root, wrap_in_workflow(process) if inside else process) == {
            "sent": "it"
        }
        _, sender = server.recvfrom(16)
        server.connect(sender)
        server.send(b"an answer")
        with pytest.raises(ConnectionRefusedError):
            server.recv(16)


@pytest.mark.parametrize(
    "slot",
    [
        get_sandbox().model_copy(
            update={"no_network": "there is no slirp4netns", "node_network": shared}
        )
        for shared in (True, False)
    ],
    ids=["preferred", "required"],
    indirect=True,
)
def test_node_without_slirp4netns_shares_its_network_or_fails_the_job(
    slot: Runner, root: Path, listener: int, request: pytest.FixtureRequest
) -> None:
    process = make_connecting_tool(listener, "127.0.0.1", network=True)
    report = run(slot, make_task(root, process), [write_input(root / "in" / "a.dat")])
    if "preferred" in request.node.name:
        assert report.outcome is AttemptOutcome.FINISHED, report.message
        assert "network: the node's own, as there is no slirp4netns" in read_log(report)
    else:
        assert report.error_class is ErrorClass.STAGE_IN_FAILED
        assert "there is no slirp4netns" in report.message


def test_name_server_in_the_sandbox_is_slirp4netns() -> None:
    text = "nameserver 127.0.0.53\nsearch example.org\noptions edns0\n"
    settings = build_resolver_settings(text)
    assert settings == "nameserver 10.0.2.3\nsearch example.org\noptions edns0\n"


@pytest.mark.parametrize("text", ["127.0.0.0/8", "fd00::/8", "192.168.4.1/24", "here"])
def test_invalid_or_loopback_networks_cannot_be_allowed(text: str) -> None:
    with pytest.raises(ValueError, match=r"loopback|host bits|not appear"):
        check_networks([text])


#: Starts the network of a process that sleeps, and prints the process that carries the network.
_HOLD = """
import sys, time
from pathlib import Path
from pilot.isolation.sandbox.network import UserNetwork
network = UserNetwork.model_validate_json(sys.argv[1])
print(network.start(int(sys.argv[2])).pid, flush=True)
time.sleep(600)
"""


@pytest.mark.needs(TUNNELS)
def test_network_process_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    network = make_networked_sandbox().network
    assert network is not None
    apart = ["unshare", "--user", "--map-root-user", "--net", "sleep", "600"]
    with subprocess.Popen(apart) as asleep:
        wait_until(lambda: Path(f"/proc/{asleep.pid}/comm").read_text().strip() == "sleep")
        command = [sys.executable, "-c", _HOLD, network.model_dump_json(), str(asleep.pid)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holding:
            assert holding.stdout is not None
            carrier = int(holding.stdout.readline())
            assert not has_ended(carrier)
            holding.kill()
        wait_until(lambda: has_ended(carrier))
        asleep.kill()


#: Finds a sandbox with a network, and runs a tool in it.
_FIND = """
import os, sys
from pathlib import Path
from pilot.isolation.node.sandboxes import find_sandbox, with_network
from pilot.isolation.sandbox.process_limits import ProcessLimits
from pilot.isolation.sandbox.sandbox_instance import SandboxInstance
from pilot.isolation.sandbox.sandbox import SandboxOptions
from pilot.isolation.sandbox.view import View
found = find_sandbox("required", Path(sys.argv[1]), [], hidden_paths=[Path(sys.argv[1]) / "hidden"])
network = sys.argv[3] == "True"
if network:
    found = with_network(found, "required", [])
    assert found.network is not None, found.no_network
held = SandboxInstance(found, [], SandboxOptions(network=network))
program = held.start(
    [sys.executable, "-I", "-S", "-c", sys.argv[2]], environment={}, folder="/",
    streams=[1, 2], limits=ProcessLimits(), view=View([]),
)
assert program.end().status == 0
held.close()
"""
_SAY = """
import os, socket
print(os.geteuid(), len(os.openpty()), open("/dev/null").read(), end=" ")
try:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("10.1.2.3", 9))
except OSError as error:
    print(error.strerror)
"""


#: Runs a command as another user, who sees this repository at /mnt.
_AS_ANOTHER = """
mount --bind "$0" /mnt && cd /mnt &&
exec setpriv --reuid 1000 --regid 1000 --clear-groups env PYTHONPATH=/mnt "$@"
"""


@pytest.mark.parametrize(
    ("before", "network"),
    [
        # Only root may be able to open the device for these networks.
        pytest.param(
            ["unshare", "--mount", "sh", "-c", _AS_ANOTHER, str(Path.cwd())],
            False,
            marks=pytest.mark.needs(ROOT_RIGHTS),
            id="another user",
        ),
        pytest.param(
            ["unshare", "--user", "--map-user=1000", "--map-group=1000"],
            True,
            marks=pytest.mark.needs(TUNNELS),
            id="another user inside",
        ),
    ],
)
def test_pilot_that_is_not_root_has_the_same_sandbox_and_network(
    before: list[str], *, network: bool
) -> None:
    own_path = str(Path.cwd())
    sandbox_path = own_path if network else "/mnt"
    python = sys.executable.replace(own_path, sandbox_path)
    with TemporaryDirectory(dir="/var/tmp") as folder:
        os.chown(folder, *([-1, -1] if network else [1000, 1000]))
        output = subprocess.run(
            [*before, python, "-c", _FIND, f"{folder}/system", _SAY, str(network)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            env={"PATH": os.environ["PATH"].replace(own_path, sandbox_path)},
        ).stdout
    refused = "Operation not permitted" if network else "Network is unreachable"
    assert output.splitlines()[-1] == f"1000 2  {refused}"
