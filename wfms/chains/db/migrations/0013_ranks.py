"""Add the rank of a chain, which is added to the ranks of its steps."""

from alembic import op

revision = "wfms_chains0013"
down_revision = "wfms_chains0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute(
        "ALTER TABLE chains ADD COLUMN rank double precision NOT NULL DEFAULT 0 CHECK (rank >= 0)"
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute("ALTER TABLE chains DROP COLUMN rank")
