"""Tests of tools with a network that select the sending interface, which bypasses routes: without
firewall rules they reach services of the node and groups of its neighbours, and with rules they
reach nothing."""

import json
import subprocess
import sys
from functools import cache
from typing import Any

import pytest

from pilot.isolation.node.sandboxes import with_network
from tests.attacks.tools.network_escapes import GROUPS, OWN
from tests.needs import ROOT_RIGHTS
from tests.unit.pilot.sandboxes import get_sandbox

_NAMING = ("SO_BINDTODEVICE", "SO_BINDTOIFINDEX", "IP_UNICAST_IF", "IP_PKTINFO")
_WAYS = [
    *(f"UDP to {place} by {way}" for place in ("127.0.0.1", OWN, *GROUPS) for way in _NAMING),
    *(f"UDP to {group} by IP_MULTICAST_IF" for group in GROUPS),
    f"UDP to {GROUPS[0]} by IP_ADD_MEMBERSHIP",
    *(f"UDP to {group} by SO_DONTROUTE and SO_BINDTODEVICE" for group in GROUPS),
    *(f"UDP to ::ffff:{place} by SO_BINDTODEVICE" for place in ("127.0.0.1", OWN)),
    "TCP to 127.0.0.1",
    f"TCP to {OWN}",
]


@cache
def _run_network_escapes(rules: str) -> dict[str, Any]:
    sandbox = with_network(get_sandbox(), "required", [])
    assert sandbox.network is not None, sandbox.no_network
    done = subprocess.run(
        [
            "unshare",
            "--net",
            sys.executable,
            "-m",
            "tests.attacks.tools.network_escapes",
            sandbox.model_dump_json(),
            rules,
        ],
        stdout=subprocess.PIPE,
        check=True,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.mark.needs(ROOT_RIGHTS)
@pytest.mark.parametrize("way", _WAYS)
def test_tool_reaches_the_node_without_firewall_rules(way: str) -> None:
    assert way in _run_network_escapes("none")["got"]


@pytest.mark.needs(ROOT_RIGHTS)
def test_tool_reaches_nothing_with_firewall_rules() -> None:
    """There is a network: the process that carries the packets answers the last attempt, at a port
    where nothing listens."""
    assert _run_network_escapes("as they are") == {"got": [], "said": "Network is unreachable\n"}
