"""Store a chain's secrets, with their versions, so that lists of chains read no plans."""

from alembic import op

revision = "wfms_chains0012"
down_revision = "wfms_chains0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute(
        "-- By parameter: name and version, no values. Null where there are none.\n"
        "ALTER TABLE chains ADD COLUMN secrets jsonb"
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute("ALTER TABLE chains DROP COLUMN secrets")
