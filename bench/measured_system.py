"""The system that a benchmark measures: addresses of its services and usage of its processes."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx
import psutil

from bench.system import fresh_system
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.problems import NotAvailable
from sluice.embedded.home import Home
from sluice.servicekit.access.service_keys import ServiceKeys
from sluice.servicekit.access.service_tokens import ServiceSigner
from sluice.servicekit.running.service_clients import SignedRequests

_MIB = 2**20


@dataclass(frozen=True, slots=True)
class SystemUnderTest:
    """A system under measurement.

    Attributes:
        kind: A description of the system.
        operator: The base URL of the operator service.
        dms: The base URL of the DMS.
        wms: The base URL of the WMS.
        database: The ``postgresql://…`` URL of the server's own database.
        processes: The pid of each process by name.
        pilot_token: The file with the token for the registration of pilots, if one is needed.
        service_keys: The folder with the keys of services, if they sign requests.
    """

    kind: str
    operator: str
    dms: str
    wms: str
    database: str
    processes: Mapping[str, int]
    pilot_token: Path | None = None
    service_keys: Path | None = None

    def auth(self, service: str) -> httpx.Auth | None:
        """Return the authentication with which the operator service calls ``service``."""
        if self.service_keys is None:
            return None
        keys = ServiceKeys(self.service_keys, CallingService.OPERATOR)
        return SignedRequests(ServiceSigner(keys), service)

    def processor_seconds(self) -> dict[str, float]:
        """Return the processor seconds of each process and its children, without ended ones."""
        return {
            name: sum(_read_cpu_seconds(process) for process in _list_process_tree(pid))
            for name, pid in self.processes.items()
        }

    def peak_memory(self) -> dict[str, float]:
        """Return the peak memory in MiB of each Python process.

        Pilots of an embedded system are included. Other servers are left out, because memory that
        their processes share would count several times.
        """
        pids = {
            **self.processes,
            **{
                name: pid
                for process in self.processes.values()
                for name, pid in _list_pilots(process).items()
            },
        }
        return {
            name: peak for name, pid in pids.items() if (peak := _read_peak_memory(pid)) is not None
        }


@contextmanager
def run_embedded_system(*, pilots: int = 0) -> Iterator[SystemUnderTest]:
    """Yield an embedded system with ``pilots`` pilots. Registered files need not exist."""
    with _without_file_checks(), fresh_system("--pilots", str(pilots)) as (url, home):
        lines = (home / "database" / "postmaster.pid").read_text().splitlines()
        system = int(json.loads((home / "system.json").read_text())["pid"])
        yield SystemUnderTest(
            kind="embedded",
            operator=url,
            dms=f"{url}/services/dms",
            wms=f"{url}/services/wms",
            database=f"postgresql://postgres:@/postgres?host={quote(lines[4])}",
            processes={"system": system, "postgres": int(lines[0])},
            pilot_token=Home(home).pilot_token,
        )


@contextmanager
def use_separate_processes(folder: Path) -> Iterator[SystemUnderTest]:
    """Yield the separate processes of a stack in ``folder``, as its ``stack.json`` describes them.

    Raises:
        NotAvailable: No stack is ready there.
    """
    try:
        state = json.loads((folder / "stack.json").read_text())
    except FileNotFoundError:
        raise NotAvailable(f"no stack runs in {folder}: start one with `make stack`") from None
    if not state["ready"]:
        raise NotAvailable(f"the stack in {folder} is not ready yet")
    database = state["databases"]["wms"].rpartition("/")[0] + "/postgres"
    processes = {
        process["name"]: process["pid"]
        for process in state["processes"]
        if process["pid"] is not None
    }
    services = state["services"]
    secrets = folder / "secrets"
    yield SystemUnderTest(
        "separate processes",
        services["operator"],
        services["dms"],
        services["wms"],
        database,
        processes,
        pilot_token=secrets / "sluice_wms_pilot_token",
        service_keys=secrets,
    )


@contextmanager
def _without_file_checks() -> Iterator[None]:
    """Disable the verification of files: a million input files would take too long to write."""
    name = "SLUICE_DMS_VERIFY_FILES"
    before = os.environ.get(name)
    os.environ[name] = "false"
    try:
        yield
    finally:
        del os.environ[name]
        if before is not None:
            os.environ[name] = before


def _list_pilots(process: int) -> dict[str, int]:
    children = psutil.Process(process).children()
    return {
        f"pilot-{number}": child.pid
        for number, child in enumerate((c for c in children if "pilot" in c.cmdline()), start=1)
    }


def _list_process_tree(pid: int) -> list[psutil.Process]:
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def _read_cpu_seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)


def _read_peak_memory(pid: int) -> float | None:
    if "python" not in Path(psutil.Process(pid).exe()).name:
        return None
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    [peak] = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return int(peak) * 1024 / _MIB
