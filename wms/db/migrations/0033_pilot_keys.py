"""Store the key that a pilot showed when it registered."""

from alembic import op

revision = "wms0033"
down_revision = "wms0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    # The key's thumbprint (RFC 7638); NULL for a pilot of the previous release, which shows none.
    op.execute("ALTER TABLE pilots ADD COLUMN key text")


def downgrade() -> None:
    """Revert the revision."""
    op.execute("ALTER TABLE pilots DROP COLUMN key")
