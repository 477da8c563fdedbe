"""Validate jobs older than revision 28, under a lock that blocks nobody."""

from alembic import op

revision = "wms0029"
down_revision = "wms0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute("SET LOCAL statement_timeout = '2h'")
    op.execute("ALTER TABLE jobs VALIDATE CONSTRAINT jobs_fresh_or_due")


def downgrade() -> None:
    """Do nothing: there is nothing to revert."""
