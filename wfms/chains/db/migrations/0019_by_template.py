"""Finds the chains of a template."""

from alembic import op

revision = "wfms_chains0019"
down_revision = "wfms_chains0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE INDEX chains_by_template ON chains (template_name, position)")


def downgrade() -> None:
    op.execute("DROP INDEX chains_by_template")
