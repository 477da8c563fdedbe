"""Sites of partners: one is revoked while its pilots work, the other may get no new pilots."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import asyncpg

from sluice.clients.operator import OperatorClient
from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.common.states import PilotState
from sluice.contracts.pilots.sites import NewSite
from sluice.network.credentials import write_private
from tests.e2e.systems import NO_CONTAINERS
from tests.faults.retries import FaultTargetMissing, SystemViolation, retry, wait_for
from tests.faults.schedule import GUEST, PARTNER, SITES
from tests.faults.spy import open_monitoring_pilot

#: Seconds until a pilot of the site has jobs.
_JOB_TIMEOUT = 120.0
#: The error of a new pilot, which it logs.
_TOO_LATE = f"no new pilots of the site {PARTNER} are accepted"

_HELD = """
-- Jobs that pilots of a site have.
SELECT job_id FROM (
    SELECT id AS job_id, pilot FROM jobs WHERE lease_until IS NOT NULL
    UNION ALL SELECT job_id, pilot FROM duplicate_attempts WHERE lease_until IS NOT NULL) AS held
WHERE pilot IN (
    SELECT p.uid FROM pilots AS p JOIN sites AS s ON p.site = s.uid WHERE s.name = $1)
"""
_EXPIRE = "UPDATE sites SET expires_at = now() WHERE name = $1 AND expires_at > now()"
_PRESENT = """
-- Pilots of the site as it is now.
SELECT p.uid FROM pilots AS p JOIN sites AS s ON p.site = s.uid
WHERE s.name = $1 AND s.revoked_at IS NULL AND p.state = $2 AND p.name LIKE $1 || '%'
"""


@dataclass(frozen=True, slots=True)
class SiteEnvironment:
    """``folder`` has the enrolment tokens of sites; ``wms_url`` is the address for pilots."""

    folder: Path
    wms_url: str
    database_url: str

    def token_file(self, site: str) -> Path:
        return get_token_file(self.folder, site)


def get_token_file(folder: Path, site: str) -> Path:
    return folder / f"{site}.token"


class Sites:
    def __init__(self, admin: OperatorClient, environment: SiteEnvironment) -> None:
        self._admin = admin
        self._environment = environment

    async def create_all(self) -> None:
        """Create the sites, so that their waiting pilots enrol.

        Raises ``FaultTargetMissing``.
        """
        self._environment.folder.mkdir(exist_ok=True)
        for site in SITES:
            await self._add_site(site)
        for site in SITES:
            if not await wait_for(partial(self._has_pilot_returned, site, set())):
                raise FaultTargetMissing(f"no pilot of {site} has enrolled")

    async def revoke_for(self, seconds: float, report_begin: Callable[[], None]) -> str:
        """Revoke the site while its pilots have jobs, and add it again after ``seconds``.

        The jobs must run elsewhere, and requests of the site's pilots must be refused. Raises
        ``SystemViolation`` or ``FaultTargetMissing``.
        """
        job_ids = set[int]()

        async def have_jobs() -> bool:
            job_ids.update(await self._list_held_jobs())
            return bool(job_ids)

        async with open_monitoring_pilot(
            self._environment.wms_url, self._environment.token_file(GUEST)
        ) as monitoring_pilot:
            if not await wait_for(have_jobs, _JOB_TIMEOUT):
                raise FaultTargetMissing(f"no pilot of {GUEST} had a job")
            began = asyncio.get_running_loop().time()
            report_begin()
            await self._revoke_site(GUEST)
            await monitoring_pilot.require_refusals()
        if not await wait_for(self._have_no_jobs):
            raise SystemViolation(f"pilots of {GUEST} still have jobs, though it was revoked")
        # The fault lasts so long.
        await asyncio.sleep(max(0.0, began + seconds - asyncio.get_running_loop().time()))
        lasted = asyncio.get_running_loop().time() - began
        await self._add_site(GUEST)
        if not await wait_for(partial(self._has_pilot_returned, GUEST, set())):
            raise SystemViolation(f"no pilot of {GUEST} came back, though it was added again")
        return (
            f"{GUEST} revoked with {len(job_ids)} jobs in the hands of its pilots, added anew"
            f" {lasted:.1f} s later"
        )

    async def end_enrolment(self, kill: Callable[[], Awaitable[str]]) -> str:
        """Let the enrolment expire: a new pilot is refused, and a known pilot returns after a kill.

        Raises ``SystemViolation`` or ``FaultTargetMissing``.
        """
        await self._run_statement("execute", _EXPIRE, PARTNER)
        refusals = await self._is_new_pilot_refused()
        before = await self._list_pilots(PARTNER)
        killed = await kill()
        if not await wait_for(partial(self._has_pilot_returned, PARTNER, before)):
            raise SystemViolation(f"a pilot of {PARTNER} that was killed did not come back")
        return f"{PARTNER} may have no new pilots: one refused {refusals} times; {killed}, is back"

    async def _is_new_pilot_refused(self) -> int:
        """Start a new pilot, and return how often it was refused.

        Raises ``SystemViolation`` or ``FaultTargetMissing``.
        """
        name = f"late-{uuid4().hex[:8]}"
        log = self._environment.folder / f"{name}.log"
        process = await asyncio.to_thread(self._start_pilot, name, log)
        try:

            async def is_refusal_logged() -> bool:
                return log.read_text(errors="replace").count(_TOO_LATE) > 1

            if not await wait_for(is_refusal_logged):
                log_end = log.read_text(errors="replace")[-500:]
                raise SystemViolation(
                    f"a new pilot of {PARTNER} was not refused for its late enrolment: {log_end}"
                )
        finally:
            process.terminate()
            await asyncio.to_thread(process.wait)
        row_count = await self._run_statement(
            "fetchval", "SELECT count(*) FROM pilots WHERE name = $1", name
        )
        if row_count:
            raise SystemViolation(f"a new pilot of {PARTNER} was registered")
        return log.read_text(errors="replace").count(_TOO_LATE)

    def _start_pilot(self, name: str, log: Path) -> subprocess.Popen[bytes]:
        command = [str(Path(sys.executable).with_name("sluice-pilot")), "--name", name]
        environment = {
            "SLUICE_PILOT_WMS_URL": self._environment.wms_url,
            "SLUICE_PILOT_WORK_DIR": str(self._environment.folder / "work"),
            "SLUICE_PILOT_TOKEN_FILE": str(self._environment.token_file(PARTNER)),
            **NO_CONTAINERS,
        }
        with log.open("wb") as output:
            return subprocess.Popen(
                command, env=os.environ | environment, stdout=output, stderr=output
            )

    async def _add_site(self, site: str) -> None:
        try:
            token = await retry(lambda: self._admin.add_site(NewSite(name=site, days=1)))
        except Conflict:  # The answer of an earlier attempt was lost, and with it the token.
            await self._revoke_site(site)
            token = await retry(lambda: self._admin.add_site(NewSite(name=site, days=1)))
        write_private(self._environment.token_file(site), token.secret.get_secret_value())

    async def _revoke_site(self, site: str) -> None:
        with suppress(NotFound):  # The answer of an earlier attempt was lost.
            await retry(lambda: self._admin.revoke_site(site))

    async def _list_held_jobs(self) -> list[int]:
        rows = await self._run_statement("fetch", _HELD, GUEST)
        return [row["job_id"] for row in rows]

    async def _have_no_jobs(self) -> bool:
        return not await self._list_held_jobs()

    async def _has_pilot_returned(self, site: str, before: set[UUID]) -> bool:
        return bool(await self._list_pilots(site) - before)

    async def _list_pilots(self, site: str) -> set[UUID]:
        rows = await self._run_statement("fetch", _PRESENT, site, PilotState.ACTIVE)
        return {row["uid"] for row in rows}

    async def _run_statement(self, method: str, statement: str, *values: Any) -> Any:
        """Run a statement as administrator, and repeat it during a restart of the server."""
        results: list[Any] = []

        async def run() -> bool:
            try:
                connection = await asyncpg.connect(self._environment.database_url, timeout=5)
                try:
                    results[:] = [await getattr(connection, method)(statement, *values)]
                finally:
                    connection.terminate()
            except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
                return False
            return True

        if not await wait_for(run):
            raise FaultTargetMissing("the database of the WMS did not answer")
        return results[0]
