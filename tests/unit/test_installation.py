"""`make install` tells an environment that is whole from one that is there."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT

WHOLE, OLD, ANEW = 0, 1, 2


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with what an installation leaves, as far as the check reads it."""
    folder = tmp_path / "my clone ž"
    (folder / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "install.sh", folder / "scripts")
    for name in ("pyproject.toml", "requirements.lock"):
        (folder / name).touch()
    programs = folder / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "python").symlink_to(sys.executable)
    (folder / ".venv" / "lib" / "python3.11" / "site-packages" / "pip").mkdir(parents=True)
    (programs / "sluice").write_text(f"#!/bin/sh\n'''exec' \"{programs}/python\" \"$0\"\n")
    (folder / ".venv" / "installed").touch()
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


def test_complete_environment_is_left_as_it_is(clone: Path) -> None:
    assert check(clone) == WHOLE


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (interrupt, ANEW),
        (remove_pip, ANEW),
        (remove_interpreter, ANEW),
        (change_versions, OLD),
        (lambda clone: (clone / ".venv" / "installed").unlink(), OLD),
    ],
    ids=["interrupted", "without pip", "without interpreter", "other versions", "not recorded"],
)
def test_environment_that_is_not_whole_is_installed_again(
    clone: Path, change: Callable[[Path], None], found: int
) -> None:
    change(clone)
    assert check(clone) == found


def test_environment_of_a_clone_that_was_moved_is_made_anew(clone: Path) -> None:
    assert check(clone.rename(clone.with_name("moved"))) == ANEW


def test_clone_is_the_same_by_a_symbolic_link(clone: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(clone)
    assert check(tmp_path / "link") == WHOLE


def test_installed_packages_are_found_with_an_ascii_locale_below_any_path(clone: Path) -> None:
    for name in ("sluice", "wfms", "dms", "wms", "pilot"):
        (clone / name).mkdir()
    for name in ("collage", "masstimes", "ocr", "shared", "spd"):
        (clone / "templates" / name).mkdir(parents=True)
    (clone / ".venv" / "installed").unlink()
    packages = clone / ".venv" / "lib" / "python3.11" / "site-packages"
    uv = clone / ".venv" / "bin" / "uv"
    uv.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$PWD" "$PWD/templates/spd" >"{packages}/_sluice.pth"\n'
    )
    uv.chmod(0o755)
    subprocess.run([clone / "scripts" / "install.sh", sys.executable], check=True)
    look = "import site, sys; site.addsitedir(sys.argv[1]); print(*sys.path[-2:], sep='\\n')"
    found = subprocess.run(
        [sys.executable, "-S", "-c", look, packages],
        env={"LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.splitlines() == [str(clone), str(clone / "templates" / "spd")]
