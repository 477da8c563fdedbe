"""Add the watermarks of storages.

They have a table of their own: the code of the previous release reads all columns of storages.
"""

from alembic import op

revision = "dms0006"
down_revision = "dms0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute(
        """
-- At most 1: a share of the storage's capacity; else bytes.
CREATE TABLE water_marks (
    storage_id uuid PRIMARY KEY REFERENCES storages,
    low double precision NOT NULL CHECK (low > 0),
    high double precision NOT NULL CHECK (high > 0),
    -- Since when it has been at its high mark, and not below the low one again.
    filling_since timestamptz
)
"""
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute("DROP TABLE water_marks")
