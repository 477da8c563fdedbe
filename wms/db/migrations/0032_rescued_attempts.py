"""Add to the statistics of workers the attempts that another worker finished."""

from alembic import op

revision = "wms0032"
down_revision = "wms0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute(
        "ALTER TABLE worker_times ADD COLUMN rescued bigint NOT NULL DEFAULT 0 CHECK (rescued >= 0)"
    )


def downgrade() -> None:
    """Revert the revision."""
    op.execute("ALTER TABLE worker_times DROP COLUMN rescued")
