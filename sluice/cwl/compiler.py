"""From the text of a CWL Workflow to a plan, or to every reason why there is none: what is read,
and what is told. What happens in between stands in `phases`."""

import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sluice.contracts.plan import Plan
from sluice.contracts.problems import Finding
from sluice.cwl.documents.main_file import find_main
from sluice.cwl.documents.named_types import address_types
from sluice.cwl.documents.packing import as_text, read_files
from sluice.cwl.phases import compile_document
from sluice.cwl.reading.files import DiskFiles
from sluice.cwl.reading.findings import START, EnoughFound, Findings
from sluice.cwl.reading.nodes import plain_json
from sluice.cwl.reading.uploads import Upload
from sluice.cwl.reading.yaml_text import read_text

#: The libraries keep global state; templates are compiled one at a time.
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Compiled:
    """``plan`` is None exactly when there is an error among the findings. Errors come first, each
    kind sorted by place."""

    plan: Plan | None
    findings: list[Finding]

    @property
    def errors(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity == "error"]

    @property
    def warnings(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.severity == "warning"]


def compile_template(text: str, *, name: str, file: str = "workflow.cwl") -> Compiled:
    """Compiles a template; bad input never raises. ``file`` is the name that stands in the
    findings.

    Nothing but ``text`` is read: no file, no network. No expression is evaluated. One call at a
    time; others wait.
    """
    findings, plan = Findings(file), None
    with _LOCK, suppress(EnoughFound):
        root = address_types(read_text(text, findings), None, findings)
        plan = compile_document(root, findings, name=name)
    return Compiled(plan, findings.sorted())


def compile_file(path: Path, *, name: str) -> tuple[Compiled, str]:
    """Compiles a workflow file with all the files it refers to; findings name the file they are in.
    With it, the packed text.

    The text is empty where the files cannot be read.
    """
    findings, plan, text = Findings(str(path)), None, ""
    with _LOCK, suppress(EnoughFound):
        packed = read_files(str(path), DiskFiles(), findings, own=findings)
        text = packed.text
        if not findings.failed:
            plan = compile_document(packed.address_types(findings), findings, name=name)
        text = packed.text if not packed.inlined else as_text(packed.root)
    return Compiled(plan, findings.sorted()), text


@dataclass(frozen=True, slots=True)
class CompiledUpload:
    """``main``: path of the workflow, None where it could not be told. ``document``: all files as
    one, None after an error."""

    compiled: Compiled
    main: str | None
    document: dict[str, Any] | None


def compile_upload(upload: Upload, *, name: str) -> CompiledUpload:
    """As ``compile_template`` for a template of several files: nothing but these is read. Findings
    name the file they are in."""
    findings, main, plan, document = Findings(""), None, None, None
    with _LOCK, suppress(EnoughFound):
        main = find_main(upload, findings)
        if main is not None:
            findings.file = main
            packed = read_files(main, upload.files, findings, own=findings)
            if not findings.failed:
                plan = compile_document(packed.address_types(findings), findings, name=name)
            document = None if plan is None else plain_json(packed.root)
            for left_out, reason in upload.unusable.items():
                findings.warning(
                    START._replace(file=left_out),
                    f"it {reason}, and is left out: nothing refers to it",
                )
    return CompiledUpload(Compiled(plan, findings.sorted()), main, document)
