"""Add quotas for people to those for groups."""

from alembic import op

revision = "wfms_chains0017"
down_revision = "wfms_chains0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    # Without a row there is no limit.
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
    """Revert the change."""
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
