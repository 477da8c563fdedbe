"""Compiles a template's text, off the event loop and one at a time: cwltool keeps state of its own while it loads."""

import asyncio
from dataclasses import dataclass

from sluice.contracts.plan import Plan
from sluice.contracts.problems import Finding


@dataclass(frozen=True, slots=True)
class Checked:
    """``plan`` is None when there is an error among the findings."""

    plan: Plan | None
    findings: list[Finding]


class Compiler:
    """Precondition of ``compile``: none. Effect: none. The first call takes a second longer: it imports cwltool."""

    def __init__(self) -> None:
        self._turn = asyncio.Semaphore(1)

    async def compile(self, text: str, *, name: str, file: str) -> Checked:
        async with self._turn:
            return await asyncio.to_thread(_compile, text, name, file)


def _compile(text: str, name: str, file: str) -> Checked:
    from sluice.cwl.compiler import compile_template  # noqa: PLC0415 - slow to import, and only needed here

    compiled = compile_template(text, name=name, file=file)
    return Checked(compiled.plan, list(compiled.findings))
