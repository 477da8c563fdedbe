"""Record whether the template of a run was sent by somebody who may publish it for all groups."""

from alembic import op

revision = "operator0101"
down_revision = "operator0100"
branch_labels = None
depends_on = None

COLUMN = """
-- Whether somebody has run it who may publish templates for all groups: such a run of everyone may
-- use secrets.
ALTER TABLE run_templates ADD COLUMN sent_by_publisher boolean NOT NULL DEFAULT false
"""


def upgrade() -> None:
    """Add the column."""
    op.execute(COLUMN)
