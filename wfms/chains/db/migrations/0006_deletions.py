"""Data sets that somebody wants deleted, until the DMS has taken that over: chains that need them
are canceled first."""

from alembic import op

revision = "wfms_chains0006"
down_revision = "wfms_chains0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
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
    op.execute("DROP TABLE deletions")
