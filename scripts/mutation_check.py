"""Change random places of a package, and report the changes that no fast test finds.

Usage: ``python scripts/mutation_check.py PACKAGE… [--seed N] [--changes N] [--minutes N]``, with a
package as a folder, for example ``wms`` or ``sluice/cwl``. Changes are made in a copy of the
repository, one at a time. The exit status is 1 if tests find fewer than 85 % of the changes.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Share of the changes that tests have to find.
MIN_FOUND = 0.85
#: Package → folders of tests beside those of the same name.
MORE_TESTS = {
    "sluice/contracts": ["tests/contract"],
    "sluice/servicekit": ["tests/conformance"],
    "sluice/cwl_runner": ["tests/cwl_runner"],
    "wfms/operator": ["tests/unit/access"],
    "wms": ["tests/unit/simulation", "tests/unit/resources"],
}
#: Parts of the code whose changes have no effect on behaviour, or whose places Python 3.11 does not
#: know.
_SKIPPED_FIELDS = {"annotation", "returns", "decorator_list", "type_comment"}
_PYTEST = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
_PYTEST += ["-n", "2", "--dist", "loadgroup", "-m", "not long"]


@dataclass(frozen=True)
class Change:
    """A replacement of the bytes from ``start`` to ``end`` of a file."""

    path: Path
    line: int
    start: int
    end: int
    text: str

    def apply_to(self, source: bytes) -> bytes:
        """Return the changed text of the file."""
        return source[: self.start] + self.text.encode() + source[self.end :]

    def describe(self, source: bytes) -> str:
        """Return the change in one line, with its place."""
        before = source[self.start : self.end].decode()
        return f"{self.path}:{self.line}: {_short(before)} → {_short(self.text)}"


def _short(text: str) -> str:
    return " ".join(text.split())[:60]


def list_changes(path: Path, source: bytes) -> Iterator[Change]:
    """Yield every possible change of a file.

    Comparisons are negated, ``and`` and ``or`` as well as ``True`` and ``False`` are exchanged,
    integers are increased, and calls, raises and augmented assignments are dropped.
    """
    starts = [0]
    for line in source.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    for node in _nodes(ast.parse(source)):
        for text in _replacements(node):
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
            yield Change(path, node.lineno, start, end, text)


def _nodes(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """Yield the expressions and statements whose changes may have an effect."""
    if isinstance(node, ast.JoinedStr):
        return
    if isinstance(node, ast.expr | ast.stmt):
        yield node
    for name, value in ast.iter_fields(node):
        if name not in _SKIPPED_FIELDS:
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _nodes(child)


def _replacements(node: ast.expr | ast.stmt) -> Iterator[str]:
    match node:
        case ast.Compare():
            yield f"(not ({ast.unparse(node)}))"
        case ast.BoolOp(op=op, values=values):
            other = ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            yield f"({ast.unparse(other)})"
        case ast.Constant(value=bool() as value):
            yield str(not value)
        case ast.Constant(value=int() as value):
            yield str(value + 1)
        case ast.Expr(value=ast.Await() | ast.Call() as value) if not _is_log(value):
            yield "pass"
        case ast.Raise() | ast.AugAssign():
            yield "pass"


def _is_log(call: ast.expr) -> bool:
    return ast.unparse(call).startswith("log.")


def list_test_folders(package: str) -> list[str]:
    """Return the folders with the fast tests of a package.

    Raises:
        SystemExit: There is no such folder.
    """
    if package.startswith("templates/"):
        folder = "/".join([*package.split("/")[:2], "tests"])
        if not (ROOT / folder).is_dir():
            sys.exit(f"{package}: there is no folder {folder}")
        return [folder]
    names = (package, package.rpartition("/")[2], package.partition("/")[0])
    folders = list(MORE_TESTS.get(package, []))
    for kind in ("unit", "integration"):
        candidates = [
            f"tests/{kind}/{name}" for name in names if (ROOT / "tests" / kind / name).is_dir()
        ]
        folders += candidates[:1]
    if not folders:
        sys.exit(f"{package}: no folder of tests/unit or tests/integration has its name")
    return folders


def check(package: str, *, seed: int, changes: int, minutes: float) -> tuple[int, int]:
    """Return how many changes tests have found, and how many were tried in the time."""
    tests = list_test_folders(package)
    chosen = choose(package, seed=seed, changes=changes)
    print(f"{package}: {len(chosen)} changes, seed {seed}, {' '.join(tests)}")
    detected = tried = 0
    with tempfile.TemporaryDirectory(prefix="sluice-mutations-") as folder:
        copy = Path(folder) / "sluice"
        _copy_repository(copy)
        started = time.monotonic()
        if not _tests_pass(copy, tests, seconds=60 * minutes):
            command = " ".join([*_PYTEST, *tests])
            sys.exit(f"{package}: without a change, tests fail or exceed {minutes} min: {command}")
        # A change may also make a test wait for ever.
        limit = 60 + 3 * (time.monotonic() - started)
        for change in chosen:
            if time.monotonic() > started + 60 * minutes:
                break
            source = (ROOT / change.path).read_bytes()
            (copy / change.path).write_bytes(change.apply_to(source))
            survives = _tests_pass(copy, tests, seconds=limit)
            (copy / change.path).write_bytes(source)
            tried, detected = tried + 1, detected + (not survives)
            print(f"  {'SURVIVES' if survives else 'found'}  {change.describe(source)}", flush=True)
    return detected, tried


def choose(package: str, *, seed: int, changes: int) -> list[Change]:
    """Return random changes of a package, the same for the same seed.

    Migrations and tests of packs stay as they are.

    Raises:
        SystemExit: The package has no Python file.
    """
    paths = [path.relative_to(ROOT) for path in (ROOT / package).rglob("*.py")]
    files = sorted(path for path in paths if not {"migrations", "tests"} & set(path.parts))
    candidates = [one for path in files for one in list_changes(path, (ROOT / path).read_bytes())]
    if not candidates:
        sys.exit(f"{package}: there is nothing to change")
    chooser = random.Random(f"{seed} {package}")  # noqa: S311 - the choice can be repeated
    return chooser.sample(candidates, min(changes, len(candidates)))


def _copy_repository(target: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def _tests_pass(copy: Path, tests: list[str], *, seconds: float) -> bool:
    """Return whether the tests pass in the copy, within the time."""
    folders = [copy, *(project.parent for project in copy.glob("templates/*/pyproject.toml"))]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, folders)),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    with subprocess.Popen(
        [*_PYTEST, *tests],
        cwd=copy,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.terminate()
            return False
    if status not in {0, 1, 2}:
        sys.exit(f"pytest ended with exit status {status}")
    return status == 0


def main() -> None:
    """Check the packages that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("packages", nargs="+", metavar="PACKAGE")
    parser.add_argument("--seed", type=int, default=int(time.time()) % 10**6)
    parser.add_argument("--changes", type=int, default=10)
    parser.add_argument("--minutes", type=float, default=30.0, help="for each package")
    arguments = parser.parse_args()
    detected = tried = 0
    for package in arguments.packages:
        results = check(
            package, seed=arguments.seed, changes=arguments.changes, minutes=arguments.minutes
        )
        detected, tried = detected + results[0], tried + results[1]
    print(f"Tests found {detected} of {tried} changes, seed {arguments.seed}.")
    sys.exit(detected < MIN_FOUND * tried)


if __name__ == "__main__":
    main()
