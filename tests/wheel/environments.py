"""An environment with wheels and the packages that they require, without the source tree."""

import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import Distribution, PathDistribution, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")


def build_wheel(folder: Path, source: Path = ROOT) -> Path:
    """Build the wheel of a source folder offline, with the build system of this environment."""
    options = ["--wheel", "--offline", "--no-build-isolation", "--no-sources", "--quiet"]
    _run(ROOT, UV, "build", *options, "--python", sys.executable, "--out-dir", folder, source)
    [wheel] = folder.glob("*.whl")
    return wheel


@dataclass(frozen=True, slots=True)
class InstalledWheel:
    """A virtual environment with wheels, the first of which is that of Sluice."""

    folder: Path

    @classmethod
    def of(cls, folder: Path, *wheels: Path) -> "InstalledWheel":
        options = ["--quiet", "--offline"]
        _run(folder.parent, UV, "venv", *options, "--python", sys.executable, folder)
        python = folder / "bin" / "python"
        options += ["--no-deps", "--python", str(python)]
        _run(folder.parent, UV, "pip", "install", *options, *wheels)
        return cls(folder)

    def add_needs(self, *extras: str, owner: str = "sluice") -> None:
        """Link the installed packages that a wheel requires with these extras."""
        [metadata] = self._packages.glob(f"{owner}-*.dist-info")
        for package in _list_needed(PathDistribution(metadata), set(extras)):
            for name in {Path(str(file)).parts[0] for file in package.files or ()}:
                target = self._packages / name
                if name not in {"..", "__pycache__"} and not target.exists():
                    target.symlink_to(str(package.locate_file(name)))

    def run(self, program: str, *arguments: str, seconds: float = 60) -> str:
        """Run a program of the environment, which must succeed, and return its output."""
        done = subprocess.run(
            [self.folder / "bin" / program, *arguments],
            cwd=self.folder.parent,
            env=self._surroundings,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        assert done.returncode == 0, f"{program} {' '.join(arguments)}\n{done.stdout}{done.stderr}"
        return done.stdout

    def import_all(self, *packages: str) -> int:
        """Import every module of these packages, and return the number of modules."""
        return int(self.run("python", "-c", IMPORT_ALL, *packages))

    @property
    def _packages(self) -> Path:
        [folder] = self.folder.glob("lib/python*/site-packages")
        return folder

    @property
    def _surroundings(self) -> dict[str, str]:
        """Return an environment without the tests' own virtual environment."""
        own = str(Path(sys.executable).parent)
        path = [part for part in os.environ["PATH"].split(os.pathsep) if part != own]
        return {
            "PATH": os.pathsep.join([str(self.folder / "bin"), *path]),
            "HOME": str(self.folder.parent),
            "LANG": "C.UTF-8",
        }


#: Skips migrations, which only Alembic runs, and modules that are programs.
IMPORT_ALL = """
import importlib, pkgutil, sys
count = 0
for name in sys.argv[1:]:
    package = importlib.import_module(name)
    assert all(path.startswith(sys.prefix) for path in package.__path__), package.__path__
    for module in pkgutil.walk_packages(package.__path__, f"{name}."):
        if not module.name.endswith(".__main__") and ".migrations." not in module.name:
            importlib.import_module(module.name)
            count += 1
print(count)
"""


def _list_needed(owner: Distribution, extras: set[str]) -> list[Distribution]:
    """Return the requirements of a package and their requirements, without Sluice itself."""
    distributions: dict[tuple[str, frozenset[str]], Distribution] = {}
    left = _list_requirements(owner, extras)
    while left:
        requirement = left.pop()
        key = (requirement.name, frozenset(requirement.extras))
        if key not in distributions:
            distributions[key] = distribution(requirement.name)
            left += _list_requirements(distributions[key], requirement.extras)
    return [package for package in distributions.values() if package.name != "sluice"]


def _list_requirements(owner: Distribution, extras: set[str]) -> list[Requirement]:
    requirements = [Requirement(text) for text in owner.requires or ()]
    return [
        each
        for each in requirements
        if each.marker is None
        or any(each.marker.evaluate({"extra": extra}) for extra in extras or {""})
    ]


def _run(folder: Path, *command: str | Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
