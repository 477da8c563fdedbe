"""The system that a benchmark measures: where its services answer, and what its processes take."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx
import psutil

from sluice.bench.system import fresh_system
from sluice.contracts.access import CallingService
from sluice.contracts.problems import NotAvailable
from sluice.embedded.home import Home
from sluice.servicekit.access.service_keys import ServiceKeys
from sluice.servicekit.access.service_tokens import ServiceSigner
from sluice.servicekit.service_clients import SignedRequests

_MIB = 2**20


@dataclass(frozen=True, slots=True)
class Measured:
    """Base URLs of the services, ``postgresql://…`` of the server's own database, and name → id of
    every process. ``pilot_token``: file with what pilots register with, where that is asked;
    ``service_keys``: folder with the keys of services, where they sign.
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
        """By which ``service`` is asked as the operator service asks it."""
        if self.service_keys is None:
            return None
        keys = ServiceKeys(self.service_keys, CallingService.OPERATOR)
        return SignedRequests(ServiceSigner(keys), service)

    def processor_seconds(self) -> dict[str, float]:
        """By process, those below it included. One that has ended counts no more."""
        return {
            name: sum(_seconds(process) for process in _tree(pid))
            for name, pid in self.processes.items()
        }

    def peak_memory(self) -> dict[str, float]:
        """MiB of each process that runs Python, the most that it ever had. Servers of others are
        left out: what their processes share would count many times. An embedded system's pilots are
        among them.
        """
        found = {
            **self.processes,
            **{
                name: pid
                for process in self.processes.values()
                for name, pid in _pilots(process).items()
            },
        }
        return {name: peak for name, pid in found.items() if (peak := _peak(pid)) is not None}


@contextmanager
def embedded(*, pilots: int = 0) -> Iterator[Measured]:
    """An embedded system of its own, with so many pilots. Files that are registered need not be
    there.
    """
    with _files_made_up(), fresh_system("--pilots", str(pilots)) as (url, home):
        lines = (home / "database" / "postmaster.pid").read_text().splitlines()
        system = int(json.loads((home / "system.json").read_text())["pid"])
        yield Measured(
            kind="embedded",
            operator=url,
            dms=f"{url}/services/dms",
            wms=f"{url}/services/wms",
            database=f"postgresql://postgres:@/postgres?host={quote(lines[4])}",
            processes={"system": system, "postgres": int(lines[0])},
            pilot_token=Home(home).pilot_token,
        )


@contextmanager
def separate(folder: Path) -> Iterator[Measured]:
    """The processes of the compose file that run on this machine below ``folder``, as their
    ``stack.json`` describes them. Raises ``NotAvailable`` where none are ready there.
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
    yield Measured(
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
def _files_made_up() -> Iterator[None]:
    """A million input files would take longer to write than all that is measured."""
    name = "SLUICE_DMS_VERIFY_FILES"
    before = os.environ.get(name)
    os.environ[name] = "false"
    try:
        yield
    finally:
        del os.environ[name]
        if before is not None:
            os.environ[name] = before


def _pilots(process: int) -> dict[str, int]:
    children = psutil.Process(process).children()
    return {
        f"pilot-{number}": child.pid
        for number, child in enumerate((c for c in children if "pilot" in c.cmdline()), start=1)
    }


def _tree(pid: int) -> list[psutil.Process]:
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def _seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return float(times.user + times.system)


def _peak(pid: int) -> float | None:
    if "python" not in Path(psutil.Process(pid).exe()).name:
        return None
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    [peak] = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return int(peak) * 1024 / _MIB
