"""Compiles a template's files, off the event loop and one at a time: cwltool keeps state of its own
while it loads."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sluice.contracts.plan import Plan
from sluice.contracts.problems import Finding
from wfms.operator.domain.submitted_files import SubmittedFiles

if TYPE_CHECKING:
    from sluice.cwl import Upload


@dataclass(frozen=True, slots=True)
class Checked:
    """``plan``, and with it ``document`` (all files as one), is None when there is an error among
    the findings. ``main``: None where it could not be told which file is the workflow."""

    plan: Plan | None
    findings: list[Finding]
    main: str | None
    document: dict[str, Any] | None


class Compiler:
    """Precondition of ``compile``: none. Effect: none. The first call takes a second longer: it
    imports cwltool."""

    def __init__(self) -> None:
        self._turn = asyncio.Semaphore(1)

    async def take(self, sent: SubmittedFiles) -> "Upload":
        """The files by path, those of a zip unpacked. Raises ``Unprocessable`` where they cannot be
        taken."""
        return await asyncio.to_thread(_take, sent)

    async def compile(self, upload: "Upload", *, name: str) -> Checked:
        async with self._turn:
            return await asyncio.to_thread(_compile, upload, name)


def _take(sent: SubmittedFiles) -> "Upload":
    from sluice.cwl import is_zip, take_files, unpack_zip  # noqa: PLC0415 - slow to import, and only needed here

    files: Mapping[str, str | bytes] = sent.files
    only = next(iter(files.values())) if len(files) == 1 else ""
    if isinstance(only, bytes) and is_zip(only):
        files = unpack_zip(only)
    return take_files(files, main=sent.main)


def _compile(upload: "Upload", name: str) -> Checked:
    from sluice.cwl import compile_upload  # noqa: PLC0415 - slow to import, and only needed here

    found = compile_upload(upload, name=name)
    return Checked(found.compiled.plan, list(found.compiled.findings), found.main, found.document)
