"""A data set of a chain may be the value of a parameter: it has no step, and the parameter as its
port."""

from alembic import op

revision = "wfms_chains0003"
down_revision = "wfms_chains0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE datasets DROP CONSTRAINT datasets_check")


def downgrade() -> None:
    op.execute("DELETE FROM datasets WHERE step IS NULL AND port IS NOT NULL")
    op.execute(
        "ALTER TABLE datasets ADD CONSTRAINT datasets_check CHECK (step IS NOT NULL OR port IS"
        " NULL)"
    )
