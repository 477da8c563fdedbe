"""Allow a chain to be discarded, which keeps none of its data."""

from alembic import op

revision = "wfms_chains0004"
down_revision = "wfms_chains0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute("ALTER TABLE chains ADD COLUMN discarded boolean NOT NULL DEFAULT false")


def downgrade() -> None:
    """Revert the change."""
    op.execute("ALTER TABLE chains DROP COLUMN discarded")
