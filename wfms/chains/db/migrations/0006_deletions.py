"""Store the data sets that somebody wants deleted, until the DMS has taken them over."""

from alembic import op

revision = "wfms_chains0006"
down_revision = "wfms_chains0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute(
        """
CREATE TABLE deletions (
    dataset_uid uuid PRIMARY KEY,
    -- Outputs too, and chains that need it are canceled.
    force boolean NOT NULL,
    asked_at timestamptz NOT NULL
)
"""
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute("DROP TABLE deletions")
