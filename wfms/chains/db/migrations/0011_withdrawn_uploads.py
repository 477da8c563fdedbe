"""Allow a chain to be canceled while it uploads its output."""

from alembic import op

revision = "wfms_chains0011"
down_revision = "wfms_chains0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute("ALTER TABLE chains DROP CONSTRAINT chains_check4")


def downgrade() -> None:
    """Revert the change."""
    op.execute("UPDATE chains SET upload_asked = false WHERE state = 'canceled'")
    op.execute(
        "ALTER TABLE chains ADD CONSTRAINT chains_check4"
        " CHECK (state <> 'canceled' OR NOT upload_asked)"
    )
