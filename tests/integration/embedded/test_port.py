"""A system finds an address to listen on, or names the reason why it cannot."""

import subprocess
import sys

from tests.architecture.sources import ROOT

#: Leaves `::1` as the only address.
PREPARE = str(ROOT / "tests" / "environments" / "ipv6_only.py")

#: Looks for a free port on a machine whose loopback interface may be down.
LOOK = """
import asyncio
from sluice.embedded.port import LOOPBACK, find_loopback, require_free_port
print(find_loopback())
asyncio.run(require_free_port(find_loopback() or LOOPBACK, 0))
"""


def run_in_new_network(script: str) -> subprocess.CompletedProcess[str]:
    without_network = ["unshare", "--user", "--map-root-user", "--net"]
    return subprocess.run(
        [*without_network, sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
    )


def test_missing_loopback_interface_is_named_with_its_remedy() -> None:
    done = run_in_new_network(LOOK)
    assert done.stdout == "None\n"
    assert "cannot listen on 127.0.0.1:0: no client can connect" in done.stderr
    assert "ip link set lo up" in done.stderr


def test_system_listens_on_ipv6_where_the_machine_has_no_ipv4() -> None:
    done = run_in_new_network(f"from runpy import run_path; run_path({PREPARE!r}){LOOK}")
    assert (done.stdout, done.stderr) == ("::1\n", "")
