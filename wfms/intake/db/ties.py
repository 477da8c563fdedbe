"""SQL on ties: templates of one priority that match the same data sets."""

from collections.abc import Sequence
from datetime import datetime

from sluice.contracts.access.owners import Visibility
from sluice.contracts.chains.intake import Tie
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.templates import Template
from sluice.servicekit.database import Connection

_UPSERT_TIE = """
INSERT INTO ties (
    template_id, other_id, template, other, priority, dataset_uid, dataset_name, at, groups
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (template_id, other_id) DO UPDATE SET datasets = ties.datasets + 1,
    dataset_uid = EXCLUDED.dataset_uid, dataset_name = EXCLUDED.dataset_name, at = EXCLUDED.at,
    groups = EXCLUDED.groups
"""

_DELETE_OLD_TIES = """
-- Skip locked rows until the next round.
DELETE FROM ties WHERE (template_id, other_id) IN (
    SELECT template_id, other_id FROM ties
    WHERE NOT (template_id = ANY ($1) AND other_id = ANY ($1)) FOR UPDATE SKIP LOCKED)
"""

_SELECT_TIES = """
-- Visible to principals in all groups of the templates and of the last data set.
SELECT template_id, other_id, template, other, priority, datasets, dataset_uid, dataset_name, at
FROM ties WHERE $2::text[] IS NULL OR groups <@ $2 ORDER BY at DESC, template, other LIMIT $1
"""


async def store_tie(
    connection: Connection, dataset: Dataset, *, template: Template, other: Template, now: datetime
) -> None:
    """Record that a tied pair of templates matched one more data set."""
    await connection.execute(
        _UPSERT_TIE,
        template.id,
        other.id,
        template.name,
        other.name,
        template.plan.priority,
        dataset.uid,
        dataset.name,
        now,
        sorted({template.group, other.group, dataset.group}),
    )


async def delete_old_ties(connection: Connection, latest_templates: Sequence[Template]) -> None:
    """Delete ties of templates that are no longer among the ``latest_templates``."""
    await connection.execute(_DELETE_OLD_TIES, [template.id for template in latest_templates])


async def list_ties(connection: Connection, *, limit: int, visibility: Visibility) -> list[Tie]:
    """Return the visible ties, the latest first."""
    rows = await connection.fetch(_SELECT_TIES, limit, visibility.names())
    return [Tie.model_validate(dict(row)) for row in rows]
