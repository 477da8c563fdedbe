"""Requests and answers of the operator service about templates."""

from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from sluice.contracts.base import Contract, Name, Timestamp, absent
from sluice.contracts.owners import EVERYONE, GroupName, Owner, OwnerGroup, SharedWith
from sluice.contracts.plan import Plan
from sluice.contracts.problems import Finding

#: One text of a template: YAML or JSON, at most 2 MiB.
_Text = Annotated[str, Field(max_length=2 * 1024 * 1024)]


#: Version of a template that nobody published: a run of files brought it, nothing matches it, and
#: no name's numbers are used up.
RUN_VERSION = 0


def template_label(name: str, version: int) -> str:
    """``calib 3``; ``calib (run)`` for one that came with a run."""
    return f"{name} (run)" if version == RUN_VERSION else f"{name} {version}"


class _Written(Contract):
    """A template as somebody wrote it: either one text in ``cwl``, or ``files`` by their paths.
    ``main``: the path of the workflow among these; without it, the one Workflow that no other file
    refers to, or that is called ``main``."""

    cwl: Annotated[_Text | None, Field(exclude_if=absent)] = None
    files: Annotated[dict[str, _Text] | None, Field(exclude_if=absent)] = None
    main: Annotated[str | None, Field(exclude_if=absent)] = None


class NewTemplate(_Written):
    """A template to be stored. ``replaces``: the latest version now, 0 where there is none; where
    another one is (somebody was faster), nothing is stored."""

    name: Name
    replaces: Annotated[int | None, Field(ge=0, exclude_if=absent)] = None
    group: Annotated[
        GroupName | None,
        Field(
            exclude_if=absent,
            description="Of a new name, whose it is. None: the owner's first group.",
        ),
    ] = None


class Template(Contract):
    """A stored template. The same text again answers with what is there; another text under the
    same name is the next version. ``version`` 0 (``RUN_VERSION``): it came with a run;
    ``created_at`` is then the time of the last run."""

    id: UUID
    name: Name
    version: int
    created_at: Timestamp
    plan: Plan
    warnings: list[Finding] = Field(default_factory=list)
    #: No data set is matched with it, and nobody can ask for it, until it is enabled.
    disabled_at: Annotated[Timestamp | None, Field(exclude_if=absent)] = None
    #: The text as JSON, and as it was written (only where one template is asked for).
    template: dict[str, Any] | None = None
    cwl: str | None = None
    #: All files as they were written, and which of them is the workflow, whose text ``cwl`` is (as
    #: above).
    files: Annotated[dict[str, str] | None, Field(exclude_if=absent)] = None
    main: Annotated[str | None, Field(exclude_if=absent)] = None
    owner: Owner = None
    group: OwnerGroup = EVERYONE
    shared_with: SharedWith = Field(default_factory=list)


class TemplateList(Contract):
    """``after``: where the next page begins, where pages were asked for; None on the last."""

    templates: list[Template]
    after: Annotated[UUID | None, Field(exclude_if=absent)] = None


class Change(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class PlanChange(Contract):
    """What is another one in what a template does. ``part``: ``step``, ``match``, ``parameter``,
    ``secret``, ``output`` or ``template`` (what concerns all of it); ``details``: each what it was
    and what it becomes, in words."""

    part: Literal["template", "match", "parameter", "secret", "step", "output"]
    name: str
    change: Change
    details: list[str] = Field(default_factory=list)


class FileChange(Contract):
    """``diff``: what differs, line by line, as a unified diff; in words where that would be too
    long."""

    path: str
    change: Change
    diff: str


class TemplateChanges(Contract):
    """What publishing files as the version ``version`` of a template changes against ``before``,
    the latest one (None: the name is new). Both are the same where nothing would change.
    ``disabled``: nothing goes through the template, then as now."""

    name: Name
    before: int | None
    version: int
    disabled: bool = False
    plan: list[PlanChange] = Field(default_factory=list)
    files: list[FileChange] = Field(default_factory=list)
    warnings: list[Finding] = Field(default_factory=list)

    @property
    def nothing(self) -> bool:
        return self.before == self.version


class RestoreTemplate(Contract):
    """``POST /templates/{name}/restore``: this version's files are to be the latest again."""

    version: Annotated[int, Field(ge=1)]


class CheckTemplate(_Written):
    """``file``: the name of ``cwl``'s file, for the findings."""

    file: str = "workflow.cwl"


class CheckedTemplate(Contract):
    """``plan`` is None when there are errors among the findings."""

    findings: list[Finding]
    plan: Plan | None
