"""The stored form of a template."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sluice.contracts.access.owners import EVERYONE
from sluice.contracts.common.problems import Finding
from sluice.contracts.templates.plan import Plan
from sluice.contracts.templates.templates import Template, split_main


@dataclass(frozen=True, slots=True)
class StoredTemplate:
    """A version of a template.

    Attributes:
        files: The original texts by path.
        main: The path of the workflow.
        document: All files as one JSON document.
        deleted_at: When it was deleted, after which it matches nothing.
        disabled_at: When it was disabled; it matches nothing until it is enabled.
    """

    id: UUID
    name: str
    version: int
    main: str
    files: dict[str, str]
    document: dict[str, Any]
    plan: Plan
    warnings: list[Finding]
    created_at: datetime
    deleted_at: datetime | None
    disabled_at: datetime | None = None
    owner: str | None = None
    group: str = EVERYONE
    shared_with: Sequence[str] = ()

    @property
    def text(self) -> str:
        """The text of the file that has the workflow."""
        return self.files[self.main_path]

    @property
    def main_path(self) -> str:
        """The path of the file that has the workflow."""
        return split_main(self.main, self.files)[0]

    def contract(self, *, with_files: bool = False, text: bool = False) -> Template:
        """Return the template for an API response.

        Args:
            with_files: Include the files and the document.
            text: Include the text of the workflow, if it was read.
        """
        return Template(
            id=self.id,
            name=self.name,
            version=self.version,
            created_at=self.created_at,
            plan=self.plan,
            warnings=self.warnings,
            disabled_at=self.disabled_at,
            template=self.document if with_files else None,
            cwl=(self.text or None) if with_files or text else None,
            files=self.files if with_files else None,
            main=self.main if with_files else None,
            owner=self.owner,
            group=self.group,
            shared_with=list(self.shared_with),
        )
