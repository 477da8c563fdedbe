"""Requests and answers of the operator service about templates."""

from collections.abc import Container
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from sluice.contracts.access.owners import EVERYONE, GroupName, Owner, OwnerGroup, SharedWith
from sluice.contracts.common.base import Contract, Name, Timestamp
from sluice.contracts.common.problems import Finding
from sluice.contracts.templates.plan import Plan

#: A file of a template: YAML or JSON, at most 2 097 152 characters.
_Text = Annotated[str, Field(max_length=2 * 1024 * 1024)]


#: The version of the template of a one-off run, which is not published. It matches no data set and
#: takes no version number of its name.
RUN_VERSION = 0


def template_label(name: str, version: int) -> str:
    """Return the name and version as text: ``calib 3``, or ``calib (run)`` for a one-off run."""
    return f"{name} (run)" if version == RUN_VERSION else f"{name} {version}"


def split_main(main: str, files: Container[str]) -> tuple[str, str | None]:
    """Return the path of the workflow's file, and the process in it that ``main`` names, if any.

    ``files`` are the paths of all files: a path may contain ``#``.
    """
    path, _, process = main.partition("#")
    return (main, None) if main in files or not process else (path, process)


class _TemplateFiles(Contract):
    """The files of a template: either one text in ``cwl``, or several in ``files``.

    Attributes:
        cwl: The text of the only file.
        files: Texts by path.
        main: The path of the workflow in ``files``. By default it is the one Workflow that no other
            file refers to, or that is called ``main``. ``path#id`` names a process of a packed
            document.
    """

    cwl: _Text | None = None
    files: dict[str, _Text] | None = None
    main: str | None = None


class NewTemplate(_TemplateFiles):
    """A request to store a template.

    Attributes:
        name: The name of the template.
        replaces: The expected latest version. 0 means that the name is new. If another version is
            the latest, nothing is stored.
        group: The group that is to own a new name.
        cwl: The text of the only file.
        files: Texts by path.
        main: The path of the workflow in ``files``. Defaults to the one Workflow that no other file
            refers to, or that is called ``main``. ``path#id`` names a process of a packed document.
    """

    name: Name
    replaces: Annotated[int | None, Field(ge=0)] = None
    group: Annotated[
        GroupName | None,
        Field(
            description="The group that owns a new name. The default is the owner's first group."
        ),
    ] = None


class Template(Contract):
    """A version of a template.

    The same files again give the stored version. Other files under the same name are the next
    version.

    Attributes:
        version: The number of the version. 0 means the template of a one-off run.
        created_at: When the version was stored. For a one-off run, the time of the last run.
        plan: What the template does, compiled from its text.
        warnings: Warnings of the compiler.
        disabled_at: Since then, the template gets no data sets and no chain can be requested, until
            it is enabled.
        template: The text as JSON, if the request is about one template.
        cwl: The text as it was written, if the request is about one template.
        files: All texts by path, if the request is about one template.
        main: The path of the workflow, whose text is ``cwl``; or ``path#id``.
    """

    id: UUID
    name: Name
    version: int
    created_at: Timestamp
    plan: Plan
    warnings: list[Finding] = Field(default_factory=list)
    disabled_at: Timestamp | None = None
    template: dict[str, Any] | None = None
    cwl: str | None = None
    files: dict[str, str] | None = None
    main: str | None = None
    owner: Owner = None
    group: OwnerGroup = EVERYONE
    shared_with: SharedWith = Field(default_factory=list)


class TemplateList(Contract):
    """Templates.

    Attributes:
        templates: The templates.
        after: The cursor of the next page, if the request asks for pages. None means that this is
            the last page.
    """

    templates: list[Template]
    after: UUID | None = None


class Change(StrEnum):
    """The kind of a change."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class PlanChange(Contract):
    """A change of what a template does.

    Attributes:
        part: The kind of part that changes; ``template`` is the template as a whole.
        name: The name of the part.
        change: The kind of change.
        details: What was before and what comes, in words.
    """

    part: Literal["template", "match", "parameter", "secret", "step", "output"]
    name: str
    change: Change
    details: list[str] = Field(default_factory=list)


class FileChange(Contract):
    """A change of a file of a template.

    Attributes:
        path: The path of the file.
        change: The kind of change.
        diff: The difference as a unified diff, or in words if the diff would be too long.
    """

    path: str
    change: Change
    diff: str


class TemplateChanges(Contract):
    """The changes that publishing files under the name of a template would make.

    Attributes:
        name: The name of the template.
        before: The latest version now. None means that the name is new.
        version: The version that the files would get. Equal to ``before`` if nothing would change.
        disabled: The template is disabled and would stay so.
        plan: Changes of what the template does.
        files: Changes of its files.
        warnings: Warnings of the compiler.
    """

    name: Name
    before: int | None
    version: int
    disabled: bool = False
    plan: list[PlanChange] = Field(default_factory=list)
    files: list[FileChange] = Field(default_factory=list)
    warnings: list[Finding] = Field(default_factory=list)

    @property
    def nothing(self) -> bool:
        """Whether nothing would change."""
        return self.before == self.version


class RestoreTemplate(Contract):
    """A request to publish the files of an old version again, as the latest version."""

    version: Annotated[int, Field(ge=1)]


class CheckTemplate(_TemplateFiles):
    """A request to check a template.

    Attributes:
        file: The name of the file with the text ``cwl``, for the findings.
        cwl: The text of the only file.
        files: Texts by path.
        main: The path of the workflow in ``files``, as in ``NewTemplate``.
    """

    file: str = "workflow.cwl"


class CheckedTemplate(Contract):
    """The result of checking a template.

    Attributes:
        findings: Errors and warnings.
        plan: What the template does. None means that there are errors.
    """

    findings: list[Finding]
    plan: Plan | None
