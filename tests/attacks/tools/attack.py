"""An attack by a tool, and what is possible at all on this machine."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import indent
from typing import Any

from filelock import FileLock

from tests.attacks.tools.surroundings import Surroundings

_PRELUDE = Path(__file__).with_name("prelude.py").read_text()
#: What a program says that has done what it wanted.
SUCCEEDED = "SUCCEEDED"
#: How the system refuses what is not allowed, or not there: for a program, on a file system, or in
#: a kernel. What a wrong call gets (EINVAL, EFAULT, EBADF …) is none of them.
_REFUSALS = (
    *("EPERM", "EACCES", "EROFS", "ENOENT", "ESRCH"),
    *("ENOSYS", "ENOTSUP", "EAFNOSUPPORT", "NOTHING"),
)
#: ``only_if`` of what no tool can do in the open either, for a reason that stands beside it.
NEVER = "raise NothingError('what slots do already prevents it')"


@dataclass(frozen=True)
class Attack:
    """``code``: Python for the tool, which raises where it is refused; see ``prelude.py``.
    ``refusals``: ways to refuse it beside those that ``_REFUSALS`` has for all.
    ``happened`` decides where the effect is to be seen outside, else the tool does: what it says,
    or, with ``later``, what this code says as the next job of the slot. ``only_if``: code that can
    do outside of any tool what the attack comes down to; where it cannot, neither can the tool in
    the open. ``large``: its input is one of which no copy is made. ``environment``: set by the
    tool's description. ``alone``: it has a job of its own. ``ends``: so it has, and a
    limit may end that, with a match of this in the sentence that says why. ``needs``: what the
    machine must have so that the sandbox stops it (tests/needs.py)."""

    name: str
    code: str
    happened: Callable[[Surroundings], bool] | None = None
    later: str = ""
    only_if: str = ""
    large: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    refusals: Sequence[str] = ()
    alone: bool = False
    ends: str = ""
    needs: Sequence[str] = ()

    @property
    def shares_its_job(self) -> bool:
        """With others of which the tool tells how they went, too."""
        own = self.happened or self.large or self.environment or self.alone or self.ends
        return not own

    def held(self, said: str) -> bool:
        """Was it tried, and kept from its effect? ``said`` by its tool, or of its job, which has
        failed then."""
        if self.happened and said == SUCCEEDED:
            return True
        kind = said.partition(":")[0]
        return (
            kind in _REFUSALS
            or kind in self.refusals
            or bool(self.ends and re.search(self.ends, said))
        )


def kernel(name: str, code: str, *, refusals: Sequence[str] = ()) -> Attack:
    """One that asks the kernel alone, so that it can be tried outside of a tool as it is."""
    return Attack(name, code, only_if=code, refusals=refusals)


def program(codes: Mapping[str, str], told: Mapping[str, Any]) -> str:
    """Tries each code, which knows what it is told; writes a JSON object: how each went, by its
    name."""
    acts = [
        f"def act{n}(v):\n{indent(code.strip(), '    ')}" for n, code in enumerate(codes.values())
    ]
    named = ", ".join(f"{name!r}: act{n}" for n, name in enumerate(codes))
    return "\n".join([_PRELUDE, *acts, f"carry_out({{{named}}}, {dict(told)!r})", ""])


def possible(attacks: Iterable[Attack]) -> set[str]:
    """Names of those that can be expected to succeed here in the open: what they come down to can
    be done outside of any tool."""
    codes = {attack.name: attack.only_if or "pass" for attack in attacks}
    # Two at a time would take from each other what there is once for a user.
    lock = FileLock(Path(tempfile.gettempdir()) / f"sluice-attacks-{os.getuid()}.lock")
    with lock, tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", program(codes, {})], cwd=folder, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"]}, timeout=60, check=True,
        )  # fmt: skip
    return {name for name, said in json.loads(done.stdout).items() if said == SUCCEEDED}
