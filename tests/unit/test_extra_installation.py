"""`scripts/install-extra.sh` distinguishes complete and interrupted installations of an extra."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT

#: Stands for the environment's interpreter: it records the calls of pip, and kills the script if
#: KILL is set.
_PYTHON = """#!/bin/sh
case "$*" in
  "-m pip install "*) echo "$*" >>pip-calls; if [ -n "$KILL" ]; then kill -9 $PPID; fi ;;
  *) exec {python} "$@" ;;
esac
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a clone with a pack, which has an extra that is installed and one that is missing."""
    (tmp_path / "scripts").mkdir()
    for name in ("install-extra.sh", "system-certificates.sh"):
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").write_text(_PYTHON.format(python=sys.executable))
    (tmp_path / ".venv" / "bin" / "python").chmod(0o755)
    (tmp_path / "requirements.lock").touch()
    (tmp_path / "templates" / "x").mkdir(parents=True)
    (tmp_path / "templates" / "x" / "pyproject.toml").write_text(
        '[project.optional-dependencies]\nthere = ["pytest>=1"]\nmissing = ["no-such-package==1"]\n'
    )
    return tmp_path


def install(clone: Path, extra: str, **variables: str) -> int:
    return subprocess.run(
        [clone / "scripts" / "install-extra.sh", "x", extra],
        env={"PATH": os.environ["PATH"], **variables},
        check=False,
    ).returncode


def read_pip_calls(clone: Path) -> list[str]:
    path = clone / "pip-calls"
    return path.read_text().splitlines() if path.exists() else []


def test_complete_extra_is_not_installed_again(clone: Path) -> None:
    assert install(clone, "there") == 0
    assert read_pip_calls(clone) == []


def test_missing_extra_is_installed_without_the_project(clone: Path) -> None:
    """The project is installed with relative paths, which pip would make absolute."""
    assert install(clone, "missing") == 0
    [call] = read_pip_calls(clone)
    assert call.endswith(" no-such-package==1")
    assert "--editable" not in call
    assert "--ignore-installed" not in call


def test_interrupted_extra_is_installed_again(clone: Path) -> None:
    """Its packages may seem complete: pip writes their names before it has finished."""
    assert install(clone, "missing", KILL="yes") == -signal.SIGKILL
    project = clone / "templates" / "x" / "pyproject.toml"
    project.write_text(project.read_text().replace("no-such-package==1", "pytest>=1"))
    assert install(clone, "missing") == 0
    assert "--ignore-installed" in read_pip_calls(clone)[-1]
    assert install(clone, "missing") == 0
    assert len(read_pip_calls(clone)) == 2
