"""Tasks and jobs of before revision 39 are looked through: long, but under a lock that hinders
nobody."""

from alembic import op

revision = "wms0040"
down_revision = "wms0039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("SET LOCAL statement_timeout = '2h'")
    op.execute("ALTER TABLE tasks VALIDATE CONSTRAINT tasks_counts_add_up")
    op.execute("ALTER TABLE tasks VALIDATE CONSTRAINT tasks_final_is_settled")
    op.execute("ALTER TABLE jobs VALIDATE CONSTRAINT jobs_state_check")


def downgrade() -> None:
    """Nothing to take back."""
