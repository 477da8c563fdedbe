"""Validate the error classes of rows older than revision 3, under a lock that blocks nobody."""

from alembic import op

revision = "wms0004"
down_revision = "wms0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute("SET LOCAL statement_timeout = '2h'")
    op.execute("ALTER TABLE jobs VALIDATE CONSTRAINT jobs_error_class_check")
    op.execute("ALTER TABLE attempts VALIDATE CONSTRAINT attempts_error_class_check")


def downgrade() -> None:
    """Do nothing: there is nothing to revert."""
