"""Whose the templates and data sets of ties are."""

from alembic import op

revision = "wfms_intake0004"
down_revision = "wfms_intake0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Of the two templates and of the last data set.
    op.execute("ALTER TABLE ties ADD COLUMN groups text[] NOT NULL DEFAULT '{everyone}'")


def downgrade() -> None:
    op.execute("ALTER TABLE ties DROP COLUMN groups")
