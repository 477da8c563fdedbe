"""The classes of error of rows from before revision 3 are looked through: long, but under a lock
that hinders nobody."""

from alembic import op

revision = "wms0004"
down_revision = "wms0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("SET LOCAL statement_timeout = '2h'")
    op.execute("ALTER TABLE jobs VALIDATE CONSTRAINT jobs_error_class_check")
    op.execute("ALTER TABLE attempts VALIDATE CONSTRAINT attempts_error_class_check")


def downgrade() -> None:
    """Nothing to take back."""
