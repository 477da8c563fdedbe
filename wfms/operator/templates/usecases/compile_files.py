"""Compilation of template files off the event loop, with limits on time and memory."""

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from sluice.contracts.common.problems import Finding
from sluice.contracts.templates.plan import Plan
from sluice.servicekit.access.delegation import current_person
from wfms.operator.templates.domain.submitted_files import SubmittedFiles

if TYPE_CHECKING:
    from sluice.cwl import Upload
    from sluice.cwl.limited import LimitedCompiler


@dataclass(frozen=True, slots=True)
class CompilationResult:
    """The result of a compilation.

    Attributes:
        plan: None if there is an error among the findings.
        main: The file that has the workflow; None if it could not be determined.
        document: All files as one document; None if there is an error.
    """

    plan: Plan | None
    findings: list[Finding]
    main: str | None
    document: dict[str, Any] | None


#: Concurrent compilations.
MAX_COMPILATIONS = 2


class Compiler:
    """A component of the service that compiles templates in separate processes.

    Each person compiles one template at a time, so that one person does not block others. The first
    call takes two seconds longer because it loads cwltool.
    """

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(MAX_COMPILATIONS)
        self._turns = WeakValueDictionary[str, asyncio.Lock]()
        self._limited: LimitedCompiler | None = None

    async def start(self) -> None:
        """Do nothing: the first call loads the compiler, as not every service compiles."""

    async def stop(self) -> None:
        """Kill the compilations that still run."""
        if self._limited is not None:
            self._limited.stop()

    async def take(self, submitted_files: SubmittedFiles) -> "Upload":
        """Return the files by path, with a zip unpacked.

        Raises:
            Unprocessable: The files are not acceptable.
        """
        return await asyncio.to_thread(_take, submitted_files)

    async def compile(self, upload: "Upload", *, name: str) -> CompilationResult:
        """Compile the files and return the plan and the findings, which include exceeded limits."""
        async with self._person_lock(), self._slots:
            compiler = await asyncio.to_thread(self._load_compiler)
            result = await asyncio.to_thread(compiler.compile, upload, name=name)
        compiled = result.compiled
        return CompilationResult(
            compiled.plan, list(compiled.findings), result.main, result.document
        )

    def _person_lock(self) -> AbstractAsyncContextManager[None]:
        person = current_person()
        if person is None:
            return nullcontext()
        return self._turns.setdefault(person.name, asyncio.Lock())

    def _load_compiler(self) -> "LimitedCompiler":
        from sluice.cwl.limited import LimitedCompiler  # noqa: PLC0415 - slow to import, and only needed here

        self._limited = self._limited or LimitedCompiler()
        return self._limited


def _take(submitted_files: SubmittedFiles) -> "Upload":
    from sluice.cwl import is_zip, take_files, unpack_zip  # noqa: PLC0415 - slow to import, and only needed here

    files: Mapping[str, str | bytes] = submitted_files.files
    only = next(iter(files.values())) if len(files) == 1 else ""
    if isinstance(only, bytes) and is_zip(only):
        files = unpack_zip(only)
    return take_files(files, main=submitted_files.main)
