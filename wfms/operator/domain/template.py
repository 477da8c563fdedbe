"""A template as it is stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sluice.contracts.owners import EVERYONE
from sluice.contracts.plan import Plan
from sluice.contracts.problems import Finding
from sluice.contracts.templates import Template


@dataclass(frozen=True, slots=True)
class StoredTemplate:
    """``files``: by path, as they were written; ``main``: the path of the workflow. ``document``:
    all of them as one, as JSON. ``deleted_at``: from then on it matches nothing.
    ``disabled_at``: so it does now, until somebody enables it.
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
        """Of the workflow's own file."""
        return self.files[self.main]

    def contract(self, *, whole: bool = False, text: bool = False) -> Template:
        """``whole``: with the files and the document; ``text``: with the workflow's text, where it
        was read.
        """
        return Template(
            id=self.id,
            name=self.name,
            version=self.version,
            created_at=self.created_at,
            plan=self.plan,
            warnings=self.warnings,
            disabled_at=self.disabled_at,
            template=self.document if whole else None,
            cwl=(self.text or None) if whole or text else None,
            files=self.files if whole else None,
            main=self.main if whole else None,
            owner=self.owner,
            group=self.group,
            shared_with=list(self.shared_with),
        )
