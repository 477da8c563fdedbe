"""The previous release continues after a migration, and the new release takes over its chains."""

import asyncio
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import asyncpg
import httpx
import pytest

from sluice.contracts.access.services import SERVICES, CallingService
from sluice.contracts.chains.chains import Chain, ChainTask
from sluice.contracts.common.problems import NotAvailable, ServiceError
from sluice.servicekit.migrate import Migrator, revisions_of
from tests.e2e.spd_runs import GeneratedRun, Look, carry_runs, follow_runs, generate_run
from tests.e2e.systems import LiveSystem, live_system
from tests.e2e.test_spd import Struck, assert_events, assert_storages_clean
from tests.waiting import eventually

pytestmark = [
    pytest.mark.long("needs two releases; every test with a database applies each migration"),
    pytest.mark.xdist_group("e2e-upgrade"),
]

RELEASES = Path(__file__).parents[1] / "releases"


@pytest.fixture
def previous_release(tmp_path: Path) -> Mapping[str, str]:
    """Return the environment in which Python finds the packages of the previous release first."""
    [archive] = RELEASES.glob("*.tar.xz")
    (folder := tmp_path / "previous").mkdir()
    subprocess.run(["tar", "-xf", str(archive), "-C", str(folder)], check=True)
    return {"PYTHONPATH": str(folder), "PYTHONSAFEPATH": "1"}


def revisions(system: LiveSystem) -> dict[str, str]:
    """Map each service to the revision of its database, without services that have none yet."""

    async def read(name: str) -> str | None:
        try:
            connection = await asyncpg.connect(system.database_url(CallingService(name).database))
        except asyncpg.InvalidCatalogNameError:
            return None
        try:
            return str(await connection.fetchval("SELECT version_num FROM alembic_version"))
        finally:
            await connection.close()

    found = {name: asyncio.run(read(name)) for name in SERVICES}
    return {name: revision for name, revision in found.items() if revision is not None}


def migrate(system: LiveSystem, services: Iterable[str]) -> None:
    async def everything() -> None:
        for name in services:
            url = system.database_url(CallingService(name).database)
            migrator = Migrator(url, f"{name}.db.migrations")
            await eventually(
                partial(_migrated, migrator),
                what=f"{name} is migrated",
                seconds=60,
                period=0.2,
            )

    asyncio.run(everything())


async def _migrated(migrator: Migrator) -> bool:
    """Try a migration, which fails while the old code has a lock; services also retry."""
    try:
        await migrator.start()
    except NotAvailable:
        return False
    return True


def is_under_way(tasks: Sequence[ChainTask]) -> bool:
    return any(task.step == "decode" and task.jobs and task.jobs.finished for task in tasks)


def begun_first(
    system: LiveSystem, runs: Sequence[GeneratedRun], *, out: Path, look: Look
) -> GeneratedRun:
    """Return the first run that is in progress.

    In the previous release, statements prepared for a changed table fail once, and with them the
    registration of a run.
    """
    for run in runs:
        try:
            carry_runs(system.url, [run], out=out, look=look)
        except Struck:
            return run
        except ServiceError as error:
            if error.status != httpx.codes.INTERNAL_SERVER_ERROR:
                raise
    raise AssertionError("no run was in progress")


def test_previous_release_works_on_the_new_schema_and_hands_over(
    tmp_path: Path, previous_release: Mapping[str, str]
) -> None:
    """Invariant 7: a run begun before the migration ends after it, and the new code finishes a run
    of the old code.
    """
    newest: dict[str, str] = {
        name: revisions_of(f"{name}.db.migrations").newest for name in SERVICES
    }
    runs = [generate_run(tmp_path, number, frames=8) for number in (6, 7, 8, 9)]
    with live_system(environment=previous_release) as system:
        old = revisions(system)
        assert all(old[name] != newest[name] for name in old), (
            "there is nothing to migrate, or the code is not of the previous release"
        )

        def wait(chain: Chain, tasks: Sequence[ChainTask]) -> None:
            if is_under_way(tasks):
                raise Struck

        with pytest.raises(Struck):
            carry_runs(system.url, runs[:1], out=tmp_path / "out", look=wait)
        migrate(system, old)
        assert revisions(system) == {name: newest[name] for name in old}
        [first] = follow_runs(system.url, runs[:1], out=tmp_path / "out")
        assert_events(runs[0], first)

        left = [begun_first(system, runs[1:], out=tmp_path / "out", look=wait)]
        system.kill()
        system.environment = {}
        system.start_again()
        [second] = follow_runs(system.url, left, out=tmp_path / "out")
        assert_events(left[0], second)
        assert_storages_clean(system, [first, second], inputs_stay=True)
