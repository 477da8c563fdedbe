"""Compilation of CWL text into a plan, or into a list of errors.

This module reads the input and returns the findings. The phases in between are in `phases`.
"""

import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sluice.contracts.common.problems import Finding
from sluice.contracts.templates.plan import Plan
from sluice.contracts.templates.templates import split_main
from sluice.cwl.documents.main_file import find_main
from sluice.cwl.documents.named_types import address_types
from sluice.cwl.documents.packing import dump_document, read_files
from sluice.cwl.phases import compile_document
from sluice.cwl.reading.files import DiskFiles
from sluice.cwl.reading.findings import START, Findings, TooManyErrors
from sluice.cwl.reading.nodes import plain_json
from sluice.cwl.reading.uploads import Upload
from sluice.cwl.reading.yaml_text import read_text

#: The libraries keep global state, so templates are compiled one at a time.
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Compiled:
    """The result of a compilation.

    Attributes:
        plan: The plan. It is None exactly if there is an error among the findings.
        findings: Errors first, then warnings, each sorted by place.
    """

    plan: Plan | None
    findings: list[Finding]

    @property
    def errors(self) -> list[Finding]:
        """The findings that are errors."""
        return [finding for finding in self.findings if finding.severity == "error"]

    @property
    def warnings(self) -> list[Finding]:
        """The findings that are warnings."""
        return [finding for finding in self.findings if finding.severity == "warning"]


def compile_template(text: str, *, name: str, file: str = "workflow.cwl") -> Compiled:
    """Compile a template from its text.

    Bad input never raises. Only ``text`` is read: no file, no network. No expression is evaluated.
    Calls run one at a time, and other calls wait.

    Args:
        text: The CWL text.
        name: The name of the template.
        file: The file name that the findings show.
    """
    findings, plan = Findings(file), None
    with _LOCK, suppress(TooManyErrors):
        root = address_types(read_text(text, findings), None, findings)
        plan = compile_document(root, findings, name=name)
    return Compiled(plan, findings.sorted())


def compile_file(path: Path, *, name: str, process: str | None = None) -> tuple[Compiled, str]:
    """Compile a workflow file together with all files that it refers to.

    Args:
        path: The path of the file.
        name: The name of the template.
        process: The process of a packed document that is the workflow.

    Returns:
        The result, whose findings name their files, and the packed text. The text is empty if the
        files cannot be read.
    """
    findings, plan, text = Findings(str(path)), None, ""
    with _LOCK, suppress(TooManyErrors):
        packed = read_files(str(path), DiskFiles(), findings, main_findings=findings)
        text = packed.text
        if not findings.failed:
            root = packed.address_types(findings)
            plan = compile_document(root, findings, name=name, process=process)
        text = packed.text if not packed.inlined else dump_document(packed.root)
    return Compiled(plan, findings.sorted()), text


@dataclass(frozen=True, slots=True)
class CompiledUpload:
    """The result of the compilation of an upload.

    Attributes:
        compiled: The plan and the findings.
        main: The path of the workflow (``path#id`` if the upload names a process), or None if it
            is unclear.
        document: All files as one document, or None after an error.
    """

    compiled: Compiled
    main: str | None
    document: dict[str, Any] | None


def compile_upload(upload: Upload, *, name: str) -> CompiledUpload:
    """Compile an uploaded template of several files.

    Only these files are read. The findings name their files.
    """
    findings, main, plan, document = Findings(""), None, None, None
    with _LOCK, suppress(TooManyErrors):
        main = find_main(upload, findings)
        if main is not None:
            findings.file, process = split_main(main, upload.texts)
            packed = read_files(findings.file, upload.files, findings, main_findings=findings)
            if not findings.failed:
                root = packed.address_types(findings)
                plan = compile_document(root, findings, name=name, process=process)
            document = None if plan is None else plain_json(packed.root)
            for unusable_file, reason in upload.unusable.items():
                findings.warning(
                    START._replace(file=unusable_file),
                    f"it {reason}, and is left out: nothing refers to it",
                )
    return CompiledUpload(Compiled(plan, findings.sorted()), main, document)
