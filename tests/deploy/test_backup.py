"""A lost database server is restored from its backup up to the last transaction."""

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest

from sluice.embedded.postgres_programs import SERVER_USER
from stack.ports import LOOPBACK, free_ports
from stack.postgres import as_system_user, binaries, initialise, server_command
from tests.waiting import eventually

BACKUP = Path(__file__).parents[2] / "deploy" / "backup"

ROWS = 2000


@dataclass(slots=True)
class Machine:
    """A folder with the data of a server and a backup; its processes end with the test."""

    folder: Path
    started: list["subprocess.Popen[bytes]"]

    def environment(self) -> dict[str, str]:
        paths = {
            "BACKUP_FOLDER": str(self.folder / "backup"),
            "BACKUP_URL_FILE": str(self.folder / "url"),
        }
        return (
            os.environ | paths | {"PATH": f"{binaries()}:{os.environ['PATH']}", "BACKUP_KEEP": "1"}
        )

    def bases(self) -> list[str]:
        """Return the names of complete base backups."""
        return sorted(
            path.name for path in self.folder.glob("backup/base/*") if path.suffix != ".partial"
        )

    def start(self, command: Sequence[str], **variables: str) -> "subprocess.Popen[bytes]":
        environment = self.environment() | variables
        with (self.folder / "output").open("ab") as output:
            process = subprocess.Popen(
                command,
                env=environment,
                cwd=self.folder,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self.started.append(process)
        return process

    def run(self, script: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [*as_system_user(), "bash", str(BACKUP / script), *arguments]
        return subprocess.run(
            command,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def announce_server(self) -> int:
        """Choose and store the port of the server, and return it."""
        [port] = free_ports(1)
        (self.folder / "url").write_text(f"postgresql://postgres:secret@{LOOPBACK}:{port}/postgres")
        return port

    async def start_server(self, data: str, port: int | None = None) -> str:
        """Start the server, and return its URL when it accepts writes."""
        port = port or self.announce_server()
        url = (self.folder / "url").read_text()
        self.start(server_command(self.folder / data, port, ["-c", "wal_level=replica"]))

        async def is_writable() -> bool:
            try:
                connection = await asyncpg.connect(url)
            except (OSError, asyncpg.PostgresError):
                return False
            try:
                return not await connection.fetchval("SELECT pg_is_in_recovery()")
            finally:
                await connection.close()

        await eventually(is_writable, what=f"the server on {data}")
        return url

    def kill(self, process: "subprocess.Popen[bytes]") -> None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def make_folder() -> Path:
    """Return a new folder that the user of the server may enter."""
    folder = Path(tempfile.mkdtemp(prefix="sluice-backup-"))
    folder.chmod(0o755)
    return folder


@pytest.fixture
async def machine() -> AsyncIterator[Machine]:
    folder = make_folder()
    machine = Machine(folder, [])

    async def run(command: Sequence[str]) -> int:
        return machine.start(command).wait()

    await initialise(folder / "data", user="postgres", password="secret", run=run)
    (folder / "backup").mkdir()
    if os.geteuid() == 0:
        shutil.chown(folder / "backup", SERVER_USER)
    yield machine
    for process in machine.started:
        if process.poll() is None:
            machine.kill(process)
    shutil.rmtree(folder)


async def insert_rows(url: str, *, first: int, last: int) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("CREATE TABLE IF NOT EXISTS things (number integer PRIMARY KEY)")
        for number in range(first, last):
            await connection.execute("INSERT INTO things VALUES ($1)", number)
        # The first segment is complete, and the second is not.
        await connection.execute("SELECT pg_switch_wal()")
        await connection.execute("INSERT INTO things VALUES ($1)", last)
    finally:
        await connection.close()


async def is_streamed(url: str) -> bool:
    connection = await asyncpg.connect(url)
    try:
        pending_bytes = (
            "SELECT bool_and(flush_lsn >= pg_current_wal_flush_lsn()) FROM pg_stat_replication"
        )
        return bool(await connection.fetchval(pending_bytes))
    finally:
        await connection.close()


async def count_rows(url: str) -> int:
    connection = await asyncpg.connect(url)
    try:
        return int(await connection.fetchval("SELECT count(*) FROM things"))
    finally:
        await connection.close()


async def restore(machine: Machine) -> str:
    """Restore the backup, and return the URL of a server on it."""
    restored = machine.run("restore.sh", str(machine.folder / "backup" / "restored"))
    assert restored.returncode == 0, restored.stderr
    return await machine.start_server("backup/restored")


async def wait_for_newer_base(machine: Machine) -> None:
    before = set(machine.bases())

    async def is_there() -> bool:
        return bool(set(machine.bases()) - before)

    await eventually(is_there, what="another base backup")


async def test_lost_server_is_restored_up_to_its_last_transaction(machine: Machine) -> None:
    url = await machine.start_server("data")
    server = machine.started[-1]
    keeper = machine.start([*as_system_user(), "bash", str(BACKUP / "backup.sh"), "keep"])
    await wait_for_newer_base(machine)
    await insert_rows(url, first=0, last=ROWS)
    await eventually(lambda: is_streamed(url), what="the stream of all changes")
    machine.kill(server)
    assert await asyncio.to_thread(keeper.wait, 30) != 0, (
        "the backup ends with an error when the stream breaks"
    )
    shutil.rmtree(machine.folder / "data")
    assert await count_rows(await restore(machine)) == ROWS + 1


async def test_old_backups_are_deleted_without_files_of_the_kept_one(machine: Machine) -> None:
    url = await machine.start_server("data")
    server = machine.started[-1]
    machine.start([*as_system_user(), "bash", str(BACKUP / "backup.sh"), "keep"], BACKUP_PERIOD="2")
    for first in (0, 100, 200):
        await insert_rows(url, first=first, last=first + 99)
        await wait_for_newer_base(machine)

    async def is_one_base_left() -> bool:
        return (
            len(machine.bases()) == 1
            and not (machine.folder / "backup/wal/000000010000000000000001").exists()
        )

    await eventually(is_one_base_left, what="the deletion of older backups and their WAL")
    await insert_rows(url, first=300, last=399)
    await eventually(lambda: is_streamed(url), what="the stream of all changes")
    machine.kill(server)
    assert await count_rows(await restore(machine)) == 400


async def test_backup_waits_for_its_server_and_says_so(machine: Machine) -> None:
    port = machine.announce_server()
    keep = [*as_system_user(), "bash", str(BACKUP / "backup.sh"), "keep"]
    refused_restore = machine.start(keep, BACKUP_WAIT="0")
    assert await asyncio.to_thread(refused_restore.wait, 30) != 0, "the wait is bounded"
    machine.start(keep)
    output = machine.folder / "output"

    async def is_waiting_reported() -> bool:
        return output.read_text().count("waiting for the server:") == 2

    await eventually(is_waiting_reported, what="both backups report that they wait")
    assert "refused" in output.read_text()
    await machine.start_server("data", port)
    await wait_for_newer_base(machine)


async def test_backup_waits_for_its_folder_and_says_so(machine: Machine) -> None:
    """At the first start the volume is new, and `setup-backup` may set its permissions later."""
    backup, output = machine.folder / "backup", machine.folder / "output"
    backup.chmod(0o555)
    await machine.start_server("data")
    machine.start([*as_system_user(), "bash", str(BACKUP / "backup.sh"), "keep"])

    async def is_waiting_reported() -> bool:
        return "waiting for access to " in output.read_text()

    await eventually(is_waiting_reported, what="the backup reports that it waits")
    assert "denied" in output.read_text()
    backup.chmod(0o1777)
    await wait_for_newer_base(machine)


async def test_restore_refuses_to_overwrite_data(machine: Machine) -> None:
    refused = machine.run("restore.sh", str(machine.folder / "data"))
    assert refused.returncode == 1
    assert "is not empty" in refused.stderr
    missing = machine.run("restore.sh", str(machine.folder / "backup" / "new"))
    assert missing.returncode == 1
    assert "no base backup" in missing.stderr
