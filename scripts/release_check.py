#!/usr/bin/env python3
"""Run everything that a release has to pass, in a clean clone of the current commit.

The folder SUITES has clones of the repositories of the CWL project: ``cwl-v1.2``, ``cwl-v1.1`` and
``common-workflow-language``. A step that fails does not stop the others. The exit status is 1 if
one has failed. Conformance tests that need a container engine or the Internet fail or are not
supported without one, so their numbers are printed instead.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_SUITES = ("cwl-v1.2", "cwl-v1.1", "common-workflow-language")
_DEMOS = ("demo", "stack-demo", "collage-demo", "masstimes-demo", "masstimes-stack-demo")


@dataclass(frozen=True, slots=True)
class Step:
    """A target of the Makefile with its variables."""

    target: str
    variables: Sequence[str] = ()

    @property
    def name(self) -> str:
        """The command in words."""
        return " ".join(["make", self.target, *self.variables])


def list_steps(suites: Path, seeds: Sequence[int]) -> list[Step]:
    """Return the steps in their order: those that a busy machine disturbs come first."""
    return [
        *(Step("faults", [f"SEED={seed}"]) for seed in seeds),
        Step("test-long"),
        *map(Step, _DEMOS),
        *(Step("conformance", [f"SUITE={suites / name}", "CONTAINERS=none"]) for name in _SUITES),
        Step("test"),
    ]


def main() -> int:
    """Run the steps, print a line for each, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suites", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    arguments = parser.parse_args()
    suites = arguments.suites.resolve()
    missing = [name for name in _SUITES if not (suites / name).is_dir()]
    if missing:
        print(f"{suites} has no {', '.join(missing)}: clone them there", file=sys.stderr)
        return 2
    commit = _run("git", "rev-parse", "HEAD").strip()
    folder = _ROOT / "var" / "release-check" / f"{commit[:8]}-{time.strftime('%H%M%S')}"
    folder.mkdir(parents=True)
    clone = folder / "clone"
    _run("git", "clone", "--quiet", "--no-hardlinks", str(_ROOT), str(clone))
    _run("git", "-C", str(clone), "checkout", "--quiet", "--detach", commit)
    print(f"commit {commit}; logs in {folder}", flush=True)
    has_failed = False
    for number, step in enumerate(list_steps(suites, arguments.seeds), 1):
        log, began = folder / f"{number:02}-{step.target}.log", time.monotonic()
        with log.open("w") as output:
            command = ["make", "-C", str(clone), step.target, *step.variables]
            status = subprocess.run(command, stdout=output, stderr=output, check=False).returncode
        is_counted = step.target == "conformance"
        has_failed |= bool(status) and not is_counted
        seconds = time.monotonic() - began
        print(f"{step.name}: status {status}, {seconds:.0f} s; {find_last_result(log)}", flush=True)
    return int(has_failed)


def _run(*command: str) -> str:
    return subprocess.run(command, cwd=_ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def find_last_result(log: Path) -> str:
    """Return the last line of a log that counts results, or else its last line."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return next(_list_results(lines), lines[-1] if lines else "no output")


def _list_results(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines that count results, the last first."""
    words = (" passed", "nothing lost")
    yield from (line for line in reversed(lines) if any(word in line for word in words))


if __name__ == "__main__":
    sys.exit(main())
