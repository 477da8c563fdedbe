"""Store the description of unmatched data sets, and ties among templates."""

from alembic import op

revision = "wfms_intake0003"
down_revision = "wfms_intake0002"
branch_labels = None
depends_on = None

DATASET = """
-- A Dataset, as it was decided upon; null in rows of earlier releases.
ALTER TABLE unmatched ADD COLUMN dataset jsonb
"""

TIES = """
CREATE TABLE ties (
    template_id uuid NOT NULL,
    rival_id uuid NOT NULL,
    template text NOT NULL,
    rival text NOT NULL,
    priority bigint NOT NULL,
    datasets bigint NOT NULL DEFAULT 1 CHECK (datasets >= 1),
    -- The last one that both matched.
    dataset_uid uuid NOT NULL,
    dataset_name text NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (template_id, rival_id)
)
"""


def upgrade() -> None:
    """Apply the change."""
    op.execute(DATASET)
    op.execute(TIES)


def downgrade() -> None:
    """Revert the change."""
    op.execute("DROP TABLE ties")
    op.execute("ALTER TABLE unmatched DROP COLUMN dataset")
