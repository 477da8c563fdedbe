"""Requests and answers of the operator service about templates."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from sluice.contracts.base import Contract, Name, Timestamp
from sluice.contracts.plan import Plan
from sluice.contracts.problems import Finding


class NewTemplate(Contract):
    """``cwl``: the workflow's text (YAML or JSON), at most 2 MiB."""

    name: Name
    cwl: Annotated[str, Field(max_length=2 * 1024 * 1024)]


class Template(Contract):
    """A stored template. The same text again answers with what is there; another text under the same name is the next version."""

    id: UUID
    name: Name
    version: int
    created_at: Timestamp
    plan: Plan
    warnings: list[Finding] = Field(default_factory=list)
    #: The text as JSON, and as it was written (only where one template is asked for).
    template: dict[str, Any] | None = None
    cwl: str | None = None


class TemplateList(Contract):
    templates: list[Template]


class CheckTemplate(Contract):
    cwl: str
    file: str = "workflow.cwl"


class CheckedTemplate(Contract):
    """``plan`` is None when there are errors among the findings."""

    findings: list[Finding]
    plan: Plan | None
