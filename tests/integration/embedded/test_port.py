"""What is said where a system cannot be reached."""

import subprocess
import sys

#: Looks at a port of a machine whose loopback interface is down.
LOOK = """
import asyncio
from sluice.embedded.port import require_free_port
try:
    asyncio.run(require_free_port("127.0.0.1", 0))
except OSError as error:
    print(error)
"""


def test_machine_without_a_loopback_interface_is_told_of() -> None:
    without_network = ["unshare", "--user", "--map-root-user", "--net"]
    done = subprocess.run(
        [*without_network, sys.executable, "-c", LOOK], capture_output=True, text=True, check=True
    )
    assert "cannot listen on 127.0.0.1:0: nobody can connect" in done.stdout
    assert "ip link set lo up" in done.stdout
