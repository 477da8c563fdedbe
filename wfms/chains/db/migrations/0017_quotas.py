"""Quotas of people beside those of groups."""

from alembic import op

revision = "wfms_chains0017"
down_revision = "wfms_chains0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # What is not here may be had as much as there is.
    op.execute(
        """
CREATE TABLE quotas (
    kind text NOT NULL CHECK (kind IN ('group', 'person')),
    name text NOT NULL,
    quantity text NOT NULL CHECK (quantity IN ('chains', 'bytes', 'files', 'waiting')),
    most bigint NOT NULL CHECK (most >= 0),
    PRIMARY KEY (kind, name, quantity)
)
"""
    )
    op.execute(
        """
INSERT INTO quotas
SELECT 'group', name, 'chains', chains FROM group_quotas WHERE chains IS NOT NULL
"""
    )
    op.execute("DROP TABLE group_quotas")


def downgrade() -> None:
    op.execute(
        """
CREATE TABLE group_quotas (name text PRIMARY KEY, chains integer CHECK (chains >= 0))
"""
    )
    op.execute(
        """
INSERT INTO group_quotas
SELECT name, least(most, 2147483647) FROM quotas WHERE kind = 'group'
"""
    )
    op.execute("DROP TABLE quotas")
