"""Allow a data set of a chain to be a parameter value, with the parameter as its port."""

from alembic import op

revision = "wfms_chains0003"
down_revision = "wfms_chains0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute("ALTER TABLE datasets DROP CONSTRAINT datasets_check")


def downgrade() -> None:
    """Revert the change."""
    op.execute("DELETE FROM datasets WHERE step IS NULL AND port IS NOT NULL")
    op.execute(
        "ALTER TABLE datasets ADD CONSTRAINT datasets_check CHECK (step IS NOT NULL OR port IS"
        " NULL)"
    )
