"""`make install` recognizes complete, old and interrupted environments."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT

COMPLETE, OLD, RECREATE = 0, 1, 2


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a clone with the files of an installation that the check reads."""
    folder = tmp_path / "my clone ž"
    (folder / "scripts").mkdir(parents=True)
    for name in ("install.sh", "relative_paths.py", "system-certificates.sh"):
        shutil.copy(ROOT / "scripts" / name, folder / "scripts")
    for name in ("collage", "spd"):
        (folder / "templates" / name).mkdir(parents=True)
    for name in (
        "pyproject.toml",
        "requirements.lock",
        "templates/collage/pyproject.toml",
        "templates/spd/pyproject.toml",
    ):
        (folder / name).touch()
    programs = folder / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "python").symlink_to(sys.executable)
    (folder / ".venv" / "lib" / "python3.11" / "site-packages" / "pip").mkdir(parents=True)
    (programs / "sluice").write_text(f"#!/bin/sh\n'''exec' \"{programs}/python\" \"$0\"\n")
    (folder / ".venv" / "packs").mkdir()
    for name in ("installed", "packs/spd"):
        (folder / ".venv" / name).touch()
    return folder


def check(clone: Path) -> int:
    return subprocess.run([clone / "scripts" / "install.sh", "--check"], check=False).returncode


def interrupt(clone: Path) -> None:
    (clone / ".venv" / "incomplete").touch()


def remove_pip(clone: Path) -> None:
    (clone / ".venv" / "lib" / "python3.11" / "site-packages" / "pip").rmdir()


def remove_interpreter(clone: Path) -> None:
    (clone / ".venv" / "bin" / "python").unlink()
    (clone / ".venv" / "bin" / "python").symlink_to("/nowhere/python3")


def change_versions(clone: Path) -> None:
    later = (clone / ".venv" / "installed").stat().st_mtime + 5
    os.utime(clone / "requirements.lock", (later, later))


def test_complete_environment_is_kept(clone: Path) -> None:
    assert check(clone) == COMPLETE


@pytest.mark.parametrize(
    ("change", "exit_code"),
    [
        (interrupt, RECREATE),
        (remove_pip, RECREATE),
        (remove_interpreter, RECREATE),
        (change_versions, OLD),
        (lambda clone: (clone / ".venv" / "installed").unlink(), OLD),
        (lambda clone: (clone / ".venv" / "packs" / "spd").unlink(), OLD),
    ],
    ids=[
        "interrupted",
        "without pip",
        "without interpreter",
        "other versions",
        "not recorded",
        "without pack",
    ],
)
def test_incomplete_environment_is_installed_again(
    clone: Path, change: Callable[[Path], None], exit_code: int
) -> None:
    change(clone)
    assert check(clone) == exit_code


def test_environment_of_a_moved_clone_is_made_again(clone: Path) -> None:
    assert check(clone.rename(clone.with_name("moved"))) == RECREATE


def test_environment_is_complete_through_a_symbolic_link(clone: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(clone)
    assert check(tmp_path / "link") == COMPLETE


def test_installed_packages_are_found_with_an_ascii_locale_below_any_path(clone: Path) -> None:
    for name in ("sluice", "wfms", "dms", "wms", "pilot"):
        (clone / name).mkdir()
    (clone / ".venv" / "installed").unlink()
    packages = clone / ".venv" / "lib" / "python3.11" / "site-packages"
    uv = clone / ".venv" / "bin" / "uv"
    uv.write_text(
        f'#!/bin/sh\necho "$PWD" >"{packages}/_sluice.pth"\n'
        f'echo "$PWD/templates/spd" >"{packages}/_sluice_spd.pth"\n'
    )
    uv.chmod(0o755)
    subprocess.run([clone / "scripts" / "install.sh", sys.executable], check=True)
    look = "import site, sys; site.addsitedir(sys.argv[1]); print(*sys.path[-2:], sep='\\n')"
    result = subprocess.run(
        [sys.executable, "-S", "-c", look, packages],
        env={"LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.splitlines() == [str(clone), str(clone / "templates" / "spd")]


#: Stands for the interpreters and for uv. Each call appends its phase to a file. If KILL_AT names
#: the phase, the call kills the installation halfway. With ANOTHER_FIRST, another installation
#: runs between the first check of the environment and the lock.
_PROGRAM = r"""#!/bin/sh
case "$*" in
  "-m venv .venv") phase=environment ;;
  "-m pip install --quiet uv") phase=uv ;;
  *--editable=templates*) phase=packs ;;
  *--requirements*) phase=packages ;;
  "pip install"*) phase=sluice ;;
  *compileall*) phase=compile ;;
  *version_info*)
    if [ -n "$ANOTHER_FIRST" ]; then ANOTHER_FIRST= scripts/install.sh "$0"; fi
    exec {python} "$@" ;;
  *) exec {python} "$@" ;;
esac
echo $phase >>phases
bin=.venv/bin packages=.venv/lib/python3.11/site-packages
case $phase in
  environment) mkdir -p $bin $packages; cp "$0" $bin/python ;;
  uv) cp "$0" $bin/uv ;;
  packages) mkdir -p $packages/half ;;
  sluice) echo "$PWD" >$packages/_sluice.pth ;;
  packs) echo "$PWD/templates/spd" >$packages/_sluice_spd.pth ;;
esac
if [ "$phase" = "$KILL_AT" ]; then kill -9 $PPID; exit 1; fi
case $phase in
  environment) mkdir $packages/pip ;;
  packages) mkdir -p $packages/whole ;;
  sluice) printf '#!/bin/sh\n%s\n' "$PWD/$bin/python" >$bin/sluice ;;
esac
"""
_PHASES = ["environment", "uv", "packages", "sluice", "packs", "compile"]


def install(clone: Path, *packs: str, **variables: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [clone / "scripts" / "install.sh", clone / "python", *packs],
        env={"PATH": os.environ["PATH"], **variables},
        stderr=subprocess.DEVNULL,
    )


def is_whole(clone: Path) -> bool:
    packages = clone / ".venv" / "lib" / "python3.11" / "site-packages"
    names = {path.name for path in packages.iterdir()}
    return check(clone) == COMPLETE and names == {
        "pip",
        "half",
        "whole",
        "_sluice.pth",
        "_sluice_spd.pth",
    }


@pytest.fixture
def fresh_clone(clone: Path) -> Path:
    """Return a clone without environment, and with a program in place of its interpreter."""
    shutil.rmtree(clone / ".venv")
    (clone / "python").write_text(_PROGRAM.replace("{python}", sys.executable))
    (clone / "python").chmod(0o755)
    return clone


@pytest.mark.parametrize("phase", _PHASES)
def test_killed_installation_is_repeated_by_the_next(fresh_clone: Path, phase: str) -> None:
    assert install(fresh_clone, KILL_AT=phase).wait() == -signal.SIGKILL
    assert check(fresh_clone) == RECREATE
    assert install(fresh_clone).wait() == 0
    assert is_whole(fresh_clone)


def test_killed_removal_leaves_no_environment_that_looks_complete(
    fresh_clone: Path, tmp_path: Path
) -> None:
    assert install(fresh_clone).wait() == 0
    (fresh_clone / ".venv" / "incomplete").touch()
    stops = tmp_path / "bin" / "rm"
    stops.parent.mkdir()
    stops.write_text(
        '#!/bin/sh\nlast=; for last; do :; done\n[ -e "$last/incomplete" ] || exit 0\n'
        '/bin/rm -r "$last/incomplete" "$last/lib/python3.11/site-packages/whole"; kill -9 $PPID\n'
    )
    stops.chmod(0o755)
    killed = install(fresh_clone, PATH=f"{stops.parent}:{os.environ['PATH']}")
    assert killed.wait() == -signal.SIGKILL
    assert install(fresh_clone).wait() == 0
    assert is_whole(fresh_clone)
    assert not (fresh_clone / ".venv.removed").exists()


def test_concurrent_installations_make_one_environment(fresh_clone: Path) -> None:
    both = [install(fresh_clone) for _ in range(2)]
    assert [one.wait() for one in both] == [0, 0]
    assert is_whole(fresh_clone)
    assert (fresh_clone / "phases").read_text().split() == _PHASES


def test_environment_made_by_a_concurrent_installation_is_kept(fresh_clone: Path) -> None:
    assert install(fresh_clone, ANOTHER_FIRST="yes").wait() == 0
    assert is_whole(fresh_clone)
    assert (fresh_clone / "phases").read_text().split() == _PHASES


def test_missing_pack_is_added_to_a_complete_environment(fresh_clone: Path) -> None:
    assert install(fresh_clone).wait() == 0
    assert install(fresh_clone, "collage").wait() == 0
    assert (fresh_clone / ".venv" / "packs" / "collage").exists()
    phases = (fresh_clone / "phases").read_text().split()
    assert phases == [*_PHASES, "packages", "sluice", "packs", "compile"]
    assert install(fresh_clone, "collage").wait() == 0
    assert (fresh_clone / "phases").read_text().split() == phases


def test_paths_of_editable_packages_stay_correct_when_installed_again(clone: Path) -> None:
    """The second installation leaves the files of unchanged packages as they are."""
    packages = clone / ".venv" / "lib" / "python3.11" / "site-packages"
    for name, folder in (("_sluice", clone), ("_sluice_spd", clone / "templates" / "spd")):
        (packages / f"{name}.pth").write_text(f"{folder}\n", encoding="utf-8")
    files = sorted(packages.glob("_sluice*.pth"))
    program = [sys.executable, "-S", "-X", "utf8", str(ROOT / "scripts" / "relative_paths.py")]
    for _ in range(2):
        subprocess.run([*program, *map(str, files)], cwd=clone, check=True)
        folders = [packages / file.read_text(encoding="ascii").rstrip("\n") for file in files]
        assert [folder.resolve() for folder in folders] == [clone, clone / "templates" / "spd"]
