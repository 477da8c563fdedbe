"""Who did what."""

from alembic import op

from sluice.servicekit.audit.schema import FIRST

revision = "wfms_chains0015"
down_revision = "wfms_chains0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for statement in FIRST:
        op.execute(statement)


def downgrade() -> None:
    for table in ("audit_forgotten", "audit_chain", "audit"):
        op.execute(f"DROP TABLE {table}")
    op.execute("DROP FUNCTION audit_is_added_to")
