"""The first use shown in the README works in many environments.

Each row is a mount namespace, an environment and a user. Rows share a clone with its virtual
environment, except for rows about the location of the clone or the Python interpreter.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT
from tests.needs import ROOT_RIGHTS
from tests.servers.recorded_requests import run_recording_proxy
from tests.waiting import wait_until

HERE = Path(__file__).parent
#: A user without a name, as containers start programs.
USER = 64123
#: Seconds for a command on a busy machine.
COMMAND_TIMEOUT = 900

pytestmark = pytest.mark.timeout(3 * COMMAND_TIMEOUT)


@dataclass(frozen=True, slots=True)
class UserEnvironment:
    """The environment of a user.

    ``setup_commands`` are shell commands of root in the mount namespace. ``user_commands`` run as
    the user. ``variables`` are set in the environment, and ``unshare`` has options for more
    namespaces.
    """

    setup_commands: str = ""
    user_commands: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    user: int = field(default_factory=os.geteuid)
    unshare: Sequence[str] = ()


#: A /dev with the devices that every program expects, and no other.
WITHOUT_SHARED_MEMORY = """
mkdir "$PLACE/dev"
mount -t tmpfs none "$PLACE/dev"
for name in null zero full random urandom tty; do
  touch "$PLACE/dev/$name"
  mount --bind "/dev/$name" "$PLACE/dev/$name"
done
ln -s /proc/self/fd "$PLACE/dev/fd"
mount --rbind "$PLACE/dev" /dev
test ! -e /dev/shm
"""
ROWS = {
    "root": UserEnvironment(),
    "ordinary user": UserEnvironment(user=USER),
    "ordinary user without bubblewrap": UserEnvironment(
        setup_commands='mount --bind /dev/null "$(command -v bwrap)"', user=USER
    ),
    "without bubblewrap": UserEnvironment(
        setup_commands='mount --bind /dev/null "$(command -v bwrap)"'
    ),
    "umask 077": UserEnvironment(user_commands="umask 077"),
    "LANG=C": UserEnvironment(variables={"LANG": "C", "LC_ALL": "C"}),
    "locale that is not installed": UserEnvironment(variables={"LC_ALL": "de_DE.UTF-8"}),
    "locale with decimal commas": UserEnvironment(
        setup_commands='mkdir "$PLACE/locale"; '
        'localedef -i de_DE -f UTF-8 "$PLACE/locale/de_DE.UTF-8"',
        user_commands=(
            'export LOCPATH="$PLACE/locale" LC_ALL=de_DE.UTF-8; test "$(locale decimal_point)" = ,'
        ),
    ),
    "another time zone": UserEnvironment(variables={"TZ": "Asia/Kathmandu"}),
    "few open files": UserEnvironment(user_commands="ulimit -n 256"),
    "read-only /dev/shm": UserEnvironment(setup_commands="mount -t tmpfs -o ro none /dev/shm"),
    "no /dev/shm": UserEnvironment(setup_commands=WITHOUT_SHARED_MEMORY),
    "small /dev/shm": UserEnvironment(setup_commands="mount -t tmpfs -o size=1m none /dev/shm"),
    "current folder on PATH": UserEnvironment(user_commands='PATH=".:bin::$PATH"'),
    "tokens of another system": UserEnvironment(
        variables={"SLUICE_TOKEN": "of-another-system", "SLUICE_DMS_URL": "http://127.0.0.1:9"}
    ),
    "variables of libpq": UserEnvironment(
        variables={"PGHOST": "192.0.2.1", "PGSSLMODE": "require", "PGUSER": "nobody"}
    ),
    "IPv6 only": UserEnvironment(
        setup_commands='python3 "$CLONE/tests/environments/ipv6_only.py"', unshare=("--net",)
    ),
    "500 MB of disk": UserEnvironment(setup_commands='mount -t tmpfs -o size=500m none "$PLACE"'),
    "read-only clone": UserEnvironment(
        setup_commands='mount --bind "$CLONE" "$CLONE"; mount -o remount,ro,bind "$CLONE"'
    ),
    "home below /opt": UserEnvironment(
        setup_commands="mount -t tmpfs none /opt; mkdir /opt/place",
        user_commands="export PLACE=/opt/place",
    ),
    "clone and home in the home folder": UserEnvironment(
        user_commands='export HOME="$(dirname "$CLONE")"'
    ),
    "clone by a symbolic link": UserEnvironment(
        user_commands='ln -s "$CLONE" "$PLACE/link"; export CLONE="$PLACE/link"'
    ),
}
#: The row of `make test`, which combines settings that do not hide each other's faults.
COMBINED_ENVIRONMENT = UserEnvironment(
    user_commands='umask 077; ulimit -n 256; PATH=".:bin::$PATH"',
    variables={
        "LC_ALL": "de_DE.UTF-8",
        "TZ": "Asia/Kathmandu",
        "SLUICE_TOKEN": "of-another-system",
        "PGHOST": "192.0.2.1",
        "ALL_PROXY": "socks5://127.0.0.1:9",
        "http_proxy": "http://127.0.0.1:9",
    },
)


def copy_files(target: Path) -> Path:
    """Copy the files of the repository without build results."""
    target.mkdir(parents=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    names = [name for name in listed.stdout.split(b"\0") if (ROOT / name.decode()).is_file()]
    packed = subprocess.Popen(
        ["tar", "-c", "--null", "-T", "-"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with packed, subprocess.Popen(["tar", "-x"], cwd=target, stdin=packed.stdout):
        assert packed.stdin is not None
        packed.stdin.write(b"\0".join(names))
        packed.stdin.close()
    return target


def copy_clone(target: Path, *make: str) -> Path:
    """Copy the files of the repository and install them."""
    run(["make", "install", *make], cwd=copy_files(target))
    return target


def run(command: list[str], *, cwd: Path, environment: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=COMMAND_TIMEOUT,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def open_folder() -> Iterator[Path]:
    """Yield a folder outside /tmp that the users of all rows may enter.

    An ordinary user runs only the own rows, and may not write to /srv.
    """
    parent = "/srv" if os.access("/srv", os.W_OK) else Path.home()
    with tempfile.TemporaryDirectory(prefix="sluice-environments-", dir=parent) as folder:
        os.chmod(folder, 0o755)  # noqa: S103 - users of rows look into it
        yield Path(folder)


@pytest.fixture(scope="module")
def clone(open_folder: Path) -> Path:
    return copy_clone(open_folder / "clone")


@pytest.fixture
def place(open_folder: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=open_folder) as folder:
        yield Path(folder)


def run_first_use(clone: Path, place: Path, user_environment: UserEnvironment) -> None:
    """Run the first use of the README; show its output if it fails."""
    user = user_environment.user
    if user != os.geteuid():
        os.chown(place, user, user)
    environment = {
        "PATH": os.defpath,
        "HOME": str(place),
        "CLONE": str(clone),
        "PLACE": str(place),
        "SCRIPT": (HERE / "first_use.sh").read_text(encoding="utf-8"),
        "STEPS": str(clone / "tests" / "environments" / "steps.cwl"),
        **user_environment.variables,
    }
    changes_user = user != os.geteuid()
    as_user = f"setpriv --reuid={user} --regid={user} --clear-groups " if changes_user else ""
    commands = user_environment.user_commands
    setup = f"set -e\n{user_environment.setup_commands}"
    script = f"{setup}\nexec {as_user}bash -c '{commands}\n'\"$SCRIPT\""
    own_mounts = user_environment.setup_commands or user_environment.unshare
    namespaces = ["unshare", "--mount", *user_environment.unshare] if own_mounts else []
    output = run(
        [*namespaces, "bash", "-c", script],
        cwd=clone,
        environment=environment,
    )
    assert "     14 the\n" in output
    assert "lines: 3 " in output
    assert output.count("  finished  ") == 2
    assert output.endswith("stopped\n")


@pytest.mark.long("a row of `make test` combines most of them; the others are about the machine")
@pytest.mark.needs(ROOT_RIGHTS)
@pytest.mark.parametrize("user_environment", ROWS.values(), ids=list(ROWS))
def test_first_use_succeeds_in_every_environment(
    user_environment: UserEnvironment, clone: Path, place: Path
) -> None:
    run_first_use(clone, place, user_environment)


@pytest.mark.long("a row of `make test` has an unusable proxy")
def test_first_use_sends_nothing_to_a_proxy(clone: Path, place: Path) -> None:
    with run_recording_proxy() as proxy:
        run_first_use(clone, place, UserEnvironment(variables=proxy.variables))
    assert proxy.heads == []


@pytest.mark.long("installs a whole environment")
@pytest.mark.parametrize(
    "parent",
    ["/tmp", pytest.param("/srv", marks=pytest.mark.needs(ROOT_RIGHTS)), "/var/tmp"],
)
def test_first_use_succeeds_with_a_clone_in_another_folder(parent: str) -> None:
    with tempfile.TemporaryDirectory(prefix="sluice ž ", dir=parent) as folder:
        os.chmod(folder, 0o755)  # noqa: S103 - as what was unpacked there usually is
        (Path(folder) / "place").mkdir()
        clone = copy_clone(Path(folder) / "my clone")
        ascii_locale = UserEnvironment(variables={"LANG": "C", "LC_ALL": "C"})
        run_first_use(clone, Path(folder) / "place", ascii_locale)


@pytest.mark.long("installs a whole environment")
def test_first_use_succeeds_with_a_python_of_pyenv(place: Path) -> None:
    pythons = sorted(Path("~/.pyenv/versions").expanduser().glob("3.1[1-9]*/bin/python3"))
    assert pythons, "pyenv has no Python: pyenv install 3.11"
    clone = copy_clone(place / "clone", f"PYTHON={pythons[-1]}")
    run_first_use(clone, place, UserEnvironment())


@pytest.mark.long("installs a whole environment")
def test_first_use_succeeds_with_a_python_installed_by_uv(place: Path) -> None:
    """uv downloads the interpreters that it installs, which tests do not do.

    Instead, a copy of this interpreter is put where uv finds its own, with a separate prefix.
    """
    home = place / "user"
    managed = home / ".local" / "share" / "uv" / "python"
    version = ".".join(map(str, sys.version_info[:3]))
    series = "python{}.{}".format(*sys.version_info)
    prefix = managed / f"cpython-{version}-linux-{os.uname().machine}-gnu"
    (prefix / "bin").mkdir(parents=True)
    shutil.copy(os.path.realpath(sys.executable), prefix / "bin" / series)
    (prefix / "bin" / "python3").symlink_to(series)
    shutil.copytree(Path(sysconfig.get_path("stdlib")), prefix / "lib" / series, symlinks=True)
    command = [str(ROOT / ".venv" / "bin" / "uv"), "python", "find", "--no-project", "--system"]
    python = run(
        [*command, "--managed-python", version],
        cwd=place,
        environment={"HOME": str(home), "PATH": os.defpath},
    ).strip()
    assert Path(python).is_relative_to(prefix)
    clone = copy_clone(place / "clone", f"PYTHON={python}")
    prefix_output = run([".venv/bin/python", "-c", "import sys; print(sys.base_prefix)"], cwd=clone)
    assert prefix_output == f"{prefix}\n"
    run_first_use(clone, place, UserEnvironment(variables={"HOME": str(home)}))


@pytest.mark.long("a cheaper test adds up the disk requests of its jobs")
@pytest.mark.needs(ROOT_RIGHTS)
def test_demonstration_runs_in_a_home_of_500_mb(clone: Path, place: Path) -> None:
    script = (
        'mount -t tmpfs -o size=500m none "$1"; exec .venv/bin/python -m spd.demo --home "$1/demo"'
    )
    output = run(["unshare", "--mount", "bash", "-ec", script, "-", str(place)], cwd=clone)
    assert output.count("the events kept are exactly those that the generator knows") == 2


@pytest.mark.long("`make test` tests each phase with replaced programs")
def test_first_use_succeeds_after_a_killed_installation(place: Path) -> None:
    """The installation and its processes are killed when some packages are installed."""
    clone = copy_files(place / "clone")
    with subprocess.Popen(["make", "install"], cwd=clone, start_new_session=True) as installing:
        packages = clone / ".venv" / "lib"
        wait_until(lambda: len(list(packages.glob("python3*/site-packages/*"))) > 40, seconds=600)
        os.killpg(installing.pid, signal.SIGKILL)
    run(["make", "install"], cwd=clone)
    run_first_use(clone, place, UserEnvironment())


@pytest.mark.long("`make test` tests `sluice up` alone")
def test_first_use_succeeds_after_the_port_was_occupied(clone: Path, place: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        variables = {"SLUICE_PORT": str(other.getsockname()[1])}
        user_commands = (
            'if "$CLONE/.venv/bin/sluice" up --detach --home "$PLACE/other" 2>"$PLACE/said"; '
            'then exit 9; fi; grep "is taken by another program: choose another" "$PLACE/said"'
        )
        run_first_use(
            clone, place, UserEnvironment(user_commands=user_commands, variables=variables)
        )


def test_first_use_succeeds_with_combined_unusual_settings(tmp_path: Path) -> None:
    run_first_use(ROOT, tmp_path, COMBINED_ENVIRONMENT)
