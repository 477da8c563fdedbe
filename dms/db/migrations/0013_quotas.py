"""Add the quotas of people beside those of groups."""

from alembic import op

revision = "dms0013"
down_revision = "dms0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    # A quantity without a row has no limit.
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
SELECT 'group', name, 'bytes', bytes FROM group_quotas WHERE bytes IS NOT NULL
UNION ALL SELECT 'group', name, 'files', files FROM group_quotas WHERE files IS NOT NULL
"""
    )
    op.execute("DROP TABLE group_quotas")
    op.execute("CREATE INDEX datasets_owner ON datasets (owner) WHERE state <> 'deleted'")


def downgrade() -> None:
    """Revert the change."""
    op.execute("DROP INDEX datasets_owner")
    op.execute(
        """
CREATE TABLE group_quotas (
    name text PRIMARY KEY,
    bytes bigint CHECK (bytes >= 0),
    files bigint CHECK (files >= 0)
)
"""
    )
    op.execute(
        """
INSERT INTO group_quotas
SELECT name, max(most) FILTER (WHERE quantity = 'bytes'),
    max(most) FILTER (WHERE quantity = 'files')
FROM quotas WHERE kind = 'group' GROUP BY name
"""
    )
    op.execute("DROP TABLE quotas")
