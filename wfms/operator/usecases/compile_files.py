"""Compiles a template's files, off the event loop and within limits of time and memory."""

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from sluice.contracts.plan import Plan
from sluice.contracts.problems import Finding
from sluice.servicekit.access.behalf import person_asking
from wfms.operator.domain.submitted_files import SubmittedFiles

if TYPE_CHECKING:
    from sluice.cwl import Upload
    from sluice.cwl.limited import LimitedCompiler


@dataclass(frozen=True, slots=True)
class Checked:
    """``plan``, and with it ``document`` (all files as one), is None when there is an error among
    the findings. ``main``: None where it could not be told which file is the workflow."""

    plan: Plan | None
    findings: list[Finding]
    main: str | None
    document: dict[str, Any] | None


#: Compilations at the same time.
MAX_COMPILATIONS = 2


class Compiler:
    """Compiles in processes of their own; a component of the service, which ends them.

    A person compiles one template at a time, so that nobody's keep those of others waiting. The
    first call takes two seconds longer: it loads cwltool.
    """

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(MAX_COMPILATIONS)
        self._turns = WeakValueDictionary[str, asyncio.Lock]()
        self._limited: LimitedCompiler | None = None

    async def start(self) -> None:
        """Load nothing yet: not every service is asked to compile."""

    async def stop(self) -> None:
        """Kill the compilations that still run."""
        if self._limited is not None:
            self._limited.stop()

    async def take(self, sent: SubmittedFiles) -> "Upload":
        """The files by path, those of a zip unpacked. Raises ``Unprocessable`` where they cannot be
        taken."""
        return await asyncio.to_thread(_take, sent)

    async def compile(self, upload: "Upload", *, name: str) -> Checked:
        """Return the plan and what is wrong; what reaches its limits is wrong, too."""
        async with self._turn_of_asker(), self._room:
            limited = await asyncio.to_thread(self._loaded)
            found = await asyncio.to_thread(limited.compile, upload, name=name)
        compiled = found.compiled
        return Checked(compiled.plan, list(compiled.findings), found.main, found.document)

    def _turn_of_asker(self) -> AbstractAsyncContextManager[None]:
        person = person_asking()
        if person is None:
            return nullcontext()
        return self._turns.setdefault(person.name, asyncio.Lock())

    def _loaded(self) -> "LimitedCompiler":
        from sluice.cwl.limited import LimitedCompiler  # noqa: PLC0415 - slow to import, and only needed here

        self._limited = self._limited or LimitedCompiler()
        return self._limited


def _take(sent: SubmittedFiles) -> "Upload":
    from sluice.cwl import is_zip, take_files, unpack_zip  # noqa: PLC0415 - slow to import, and only needed here

    files: Mapping[str, str | bytes] = sent.files
    only = next(iter(files.values())) if len(files) == 1 else ""
    if isinstance(only, bytes) and is_zip(only):
        files = unpack_zip(only)
    return take_files(files, main=sent.main)
