"""Disabled templates."""

from alembic import op

revision = "operator0005"
down_revision = "operator0004"
branch_labels = None
depends_on = None

DISABLED = """
-- By name: what is published while a template is disabled is disabled too.
CREATE TABLE disabled_templates (
    name text PRIMARY KEY,
    since timestamptz NOT NULL DEFAULT now()
)
"""


def upgrade() -> None:
    """Create the table ``disabled_templates``."""
    op.execute(DISABLED)


def downgrade() -> None:
    """Drop the table ``disabled_templates``."""
    op.execute("DROP TABLE disabled_templates")
