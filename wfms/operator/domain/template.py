"""A template as it is stored."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sluice.contracts.plan import Plan
from sluice.contracts.problems import Finding
from sluice.contracts.templates import Template


@dataclass(frozen=True, slots=True)
class StoredTemplate:
    """``text``: as it was written; ``document``: the same as JSON. ``deleted_at``: from then on it matches nothing."""

    id: UUID
    name: str
    version: int
    text: str
    document: dict[str, Any]
    plan: Plan
    warnings: list[Finding]
    created_at: datetime
    deleted_at: datetime | None

    def contract(self, *, whole: bool = False) -> Template:
        """``whole``: with the text and the document."""
        return Template(
            id=self.id,
            name=self.name,
            version=self.version,
            created_at=self.created_at,
            plan=self.plan,
            warnings=self.warnings,
            template=self.document if whole else None,
            cwl=self.text if whole else None,
        )
