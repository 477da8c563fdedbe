"""Define attacks by tools, and find which attacks are possible on this machine."""

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

from tests.attacks.tools.node_objects import NodeObjects

_PRELUDE = Path(__file__).with_name("prelude.py").read_text()
#: The answer of a program whose attack succeeded.
SUCCEEDED = "SUCCEEDED"
#: Errors by which the system refuses what a program may not do or what does not exist. Errors of
#: wrong calls (EINVAL, EFAULT, EBADF …) do not count.
_REFUSALS = (
    "EPERM",
    "EACCES",
    "EROFS",
    "ENOENT",
    "ESRCH",
    "ENOSYS",
    "ENOTSUP",
    "EAFNOSUPPORT",
    "NOTHING",
)
#: ``essence`` of attacks that fail without a sandbox, too. The reason stands beside each.
NEVER = "raise NothingError('what slots do already prevents it')"


@dataclass(frozen=True)
class Attack:
    """An attack by a tool.

    ``code`` is Python for the tool, which raises where it is refused (see ``prelude.py``).
    ``refusals`` are errors that refuse this attack in addition to ``_REFUSALS``. ``is_successful``
    checks for an effect outside. Without it, the answer of the tool counts, or the answer of
    ``next_job_code``, which the next job of the slot runs. ``essence`` is code for the essence of
    the attack: where it fails outside of a tool, the attack cannot succeed without a sandbox.
    ``large`` means that the input is not copied. ``environment`` is set in the description of the
    tool. ``needs_own_job`` means that the attack has a job of its own. ``limit_message`` also means
    that a limit may end the job with a message that matches. ``needs`` is what the machine must
    have so that the sandbox prevents the attack (tests/needs.py).
    """

    name: str
    code: str
    is_successful: Callable[[NodeObjects], bool] | None = None
    next_job_code: str = ""
    essence: str = ""
    large: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    refusals: Sequence[str] = ()
    needs_own_job: bool = False
    limit_message: str = ""
    needs: Sequence[str] = ()

    @property
    def can_share_job(self) -> bool:
        """Return whether the attack can share its job with other attacks."""
        own = (
            self.is_successful
            or self.large
            or self.environment
            or self.needs_own_job
            or self.limit_message
        )
        return not own

    def was_prevented(self, result: str) -> bool:
        """Return whether the attack was tried and prevented.

        ``result`` is the answer of the tool or the message of the failed job.
        """
        if self.is_successful and result == SUCCEEDED:
            return True
        kind = result.partition(":")[0]
        return (
            kind in _REFUSALS
            or kind in self.refusals
            or bool(self.limit_message and re.search(self.limit_message, result))
        )


def make_kernel_attack(name: str, code: str, *, refusals: Sequence[str] = ()) -> Attack:
    """Return an attack that only calls the kernel, so that its code also works outside of a
    tool."""
    return Attack(name, code, essence=code, refusals=refusals)


def make_program(codes: Mapping[str, str], facts: Mapping[str, Any]) -> str:
    """Return a program that tries each code with the values of ``facts`` and prints a JSON object
    with the answers by name."""
    acts = [
        f"def act{n}(v):\n{indent(code.strip(), '    ')}" for n, code in enumerate(codes.values())
    ]
    named = ", ".join(f"{name!r}: act{n}" for n, name in enumerate(codes))
    return "\n".join([_PRELUDE, *acts, f"carry_out({{{named}}}, {dict(facts)!r})", ""])


def find_possible_attacks(attacks: Iterable[Attack]) -> set[str]:
    """Return the names of the attacks that can succeed here without a sandbox, because their
    essence works outside of a tool."""
    codes = {attack.name: attack.essence or "pass" for attack in attacks}
    # Two processes would compete for resources that exist once for a user.
    lock = FileLock(Path(tempfile.gettempdir()) / f"sluice-attacks-{os.getuid()}.lock")
    with lock, tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", make_program(codes, {})], cwd=folder, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"]}, timeout=60, check=True,
        )  # fmt: skip
    return {name for name, result in json.loads(done.stdout).items() if result == SUCCEEDED}
