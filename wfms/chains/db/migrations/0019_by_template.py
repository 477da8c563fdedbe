"""Index the chains by their template."""

from alembic import op

revision = "wfms_chains0019"
down_revision = "wfms_chains0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute("CREATE INDEX chains_by_template ON chains (template_name, position)")


def downgrade() -> None:
    """Revert the change."""
    op.execute("DROP INDEX chains_by_template")
