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
from tests.servers.recorded_requests import recording_proxy
from tests.waiting import wait_until

HERE = Path(__file__).parent
#: A user without a name, as containers start programs.
USER = 64123
#: Seconds for a command on a busy machine.
COMMAND_TIMEOUT = 900

pytestmark = pytest.mark.timeout(3 * COMMAND_TIMEOUT)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """``before`` are shell commands in the mount namespace, as root; ``during`` run as the user.

    ``variables`` are set in the environment, and ``unshare`` has options for more namespaces.
    """

    before: str = ""
    during: str = ""
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
    "root": Surroundings(),
    "ordinary user": Surroundings(user=USER),
    "ordinary user without bubblewrap": Surroundings(
        before='mount --bind /dev/null "$(command -v bwrap)"', user=USER
    ),
    "without bubblewrap": Surroundings(before='mount --bind /dev/null "$(command -v bwrap)"'),
    "umask 077": Surroundings(during="umask 077"),
    "LANG=C": Surroundings(variables={"LANG": "C", "LC_ALL": "C"}),
    "locale that is not installed": Surroundings(variables={"LC_ALL": "de_DE.UTF-8"}),
    "locale with decimal commas": Surroundings(
        before='mkdir "$PLACE/locale"; localedef -i de_DE -f UTF-8 "$PLACE/locale/de_DE.UTF-8"',
        during=(
            'export LOCPATH="$PLACE/locale" LC_ALL=de_DE.UTF-8; test "$(locale decimal_point)" = ,'
        ),
    ),
    "another time zone": Surroundings(variables={"TZ": "Asia/Kathmandu"}),
    "few open files": Surroundings(during="ulimit -n 256"),
    "read-only /dev/shm": Surroundings(before="mount -t tmpfs -o ro none /dev/shm"),
    "no /dev/shm": Surroundings(before=WITHOUT_SHARED_MEMORY),
    "small /dev/shm": Surroundings(before="mount -t tmpfs -o size=1m none /dev/shm"),
    "current folder on PATH": Surroundings(during='PATH=".:bin::$PATH"'),
    "tokens of another system": Surroundings(
        variables={"SLUICE_TOKEN": "of-another-system", "SLUICE_DMS_URL": "http://127.0.0.1:9"}
    ),
    "variables of libpq": Surroundings(
        variables={"PGHOST": "192.0.2.1", "PGSSLMODE": "require", "PGUSER": "nobody"}
    ),
    "IPv6 only": Surroundings(
        before='python3 "$CLONE/tests/environments/ipv6_only.py"', unshare=("--net",)
    ),
    "500 MB of disk": Surroundings(before='mount -t tmpfs -o size=500m none "$PLACE"'),
    "read-only clone": Surroundings(
        before='mount --bind "$CLONE" "$CLONE"; mount -o remount,ro,bind "$CLONE"'
    ),
    "home below /opt": Surroundings(
        before="mount -t tmpfs none /opt; mkdir /opt/place", during="export PLACE=/opt/place"
    ),
    "clone and home in the home folder": Surroundings(during='export HOME="$(dirname "$CLONE")"'),
    "clone by a symbolic link": Surroundings(
        during='ln -s "$CLONE" "$PLACE/link"; export CLONE="$PLACE/link"'
    ),
}
#: The row of `make test`, which combines settings that do not hide each other's faults.
COMBINED_ENVIRONMENT = Surroundings(
    during='umask 077; ulimit -n 256; PATH=".:bin::$PATH"',
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
def everybodys() -> Iterator[Path]:
    """Yield a folder outside /tmp that the users of all rows may enter.

    An ordinary user runs only the own rows, and may not write to /srv.
    """
    parent = "/srv" if os.access("/srv", os.W_OK) else Path.home()
    with tempfile.TemporaryDirectory(prefix="sluice-environments-", dir=parent) as folder:
        os.chmod(folder, 0o755)  # noqa: S103 - users of rows look into it
        yield Path(folder)


@pytest.fixture(scope="module")
def clone(everybodys: Path) -> Path:
    return copy_clone(everybodys / "clone")


@pytest.fixture
def place(everybodys: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=everybodys) as folder:
        yield Path(folder)


def use_first(clone: Path, place: Path, surroundings: Surroundings) -> None:
    """Run the first use of the README; show its output if it fails."""
    user = surroundings.user
    if user != os.geteuid():
        os.chown(place, user, user)
    environment = {
        "PATH": os.defpath,
        "HOME": str(place),
        "CLONE": str(clone),
        "PLACE": str(place),
        "SCRIPT": (HERE / "first_use.sh").read_text(encoding="utf-8"),
        "STEPS": str(clone / "tests" / "environments" / "steps.cwl"),
        **surroundings.variables,
    }
    changes_user = user != os.geteuid()
    as_user = f"setpriv --reuid={user} --regid={user} --clear-groups " if changes_user else ""
    script = (
        f"set -e\n{surroundings.before}\nexec {as_user}bash -c '{surroundings.during}\n'\"$SCRIPT\""
    )
    own_mounts = surroundings.before or surroundings.unshare
    namespaces = ["unshare", "--mount", *surroundings.unshare] if own_mounts else []
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
@pytest.mark.parametrize("surroundings", ROWS.values(), ids=list(ROWS))
def test_first_use_works_in_every_environment(
    surroundings: Surroundings, clone: Path, place: Path
) -> None:
    use_first(clone, place, surroundings)


@pytest.mark.long("a row of `make test` has an unusable proxy")
def test_first_use_sends_nothing_to_a_proxy(clone: Path, place: Path) -> None:
    with recording_proxy() as proxy:
        use_first(clone, place, Surroundings(variables=proxy.variables))
    assert proxy.heads == []


@pytest.mark.long("installs a whole environment")
@pytest.mark.parametrize(
    "parent",
    ["/tmp", pytest.param("/srv", marks=pytest.mark.needs(ROOT_RIGHTS)), "/var/tmp"],
)
def test_first_use_works_with_a_clone_in_another_folder(parent: str) -> None:
    with tempfile.TemporaryDirectory(prefix="sluice ž ", dir=parent) as folder:
        os.chmod(folder, 0o755)  # noqa: S103 - as what was unpacked there usually is
        (Path(folder) / "place").mkdir()
        clone = copy_clone(Path(folder) / "my clone")
        ascii_locale = Surroundings(variables={"LANG": "C", "LC_ALL": "C"})
        use_first(clone, Path(folder) / "place", ascii_locale)


@pytest.mark.long("installs a whole environment")
def test_first_use_works_with_a_python_of_pyenv(place: Path) -> None:
    pythons = sorted(Path("~/.pyenv/versions").expanduser().glob("3.1[1-9]*/bin/python3"))
    assert pythons, "pyenv has no Python: pyenv install 3.11"
    clone = copy_clone(place / "clone", f"PYTHON={pythons[-1]}")
    use_first(clone, place, Surroundings())


@pytest.mark.long("installs a whole environment")
def test_first_use_works_with_a_python_installed_by_uv(place: Path) -> None:
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
    use_first(clone, place, Surroundings(variables={"HOME": str(home)}))


@pytest.mark.long("a cheaper test adds up the disk requests of its jobs")
@pytest.mark.needs(ROOT_RIGHTS)
def test_demonstration_runs_in_a_home_of_500_mb(clone: Path, place: Path) -> None:
    script = (
        'mount -t tmpfs -o size=500m none "$1"; exec .venv/bin/python -m spd.demo --home "$1/demo"'
    )
    output = run(["unshare", "--mount", "bash", "-ec", script, "-", str(place)], cwd=clone)
    assert output.count("the events kept are exactly those that the generator knows") == 2


@pytest.mark.long("`make test` tests each phase with replaced programs")
def test_first_use_works_after_a_killed_installation(place: Path) -> None:
    """The installation and its processes are killed when some packages are installed."""
    clone = copy_files(place / "clone")
    with subprocess.Popen(["make", "install"], cwd=clone, start_new_session=True) as installing:
        packages = clone / ".venv" / "lib"
        wait_until(lambda: len(list(packages.glob("python3*/site-packages/*"))) > 40, seconds=600)
        os.killpg(installing.pid, signal.SIGKILL)
    run(["make", "install"], cwd=clone)
    use_first(clone, place, Surroundings())


@pytest.mark.long("`make test` tests `sluice up` alone")
def test_first_use_works_after_the_port_was_occupied(clone: Path, place: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        variables = {"SLUICE_PORT": str(other.getsockname()[1])}
        during = (
            'if "$CLONE/.venv/bin/sluice" up --detach --home "$PLACE/other" 2>"$PLACE/said"; '
            'then exit 9; fi; grep "is taken by another program: choose another" "$PLACE/said"'
        )
        use_first(clone, place, Surroundings(during=during, variables=variables))


def test_first_use_works_with_combined_unusual_settings(tmp_path: Path) -> None:
    use_first(ROOT, tmp_path, COMBINED_ENVIRONMENT)
