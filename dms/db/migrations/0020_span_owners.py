"""Who registered a period or a run, and may say when it ended."""

from alembic import op

revision = "dms0020"
down_revision = "dms0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE periods ADD COLUMN owner text")
    op.execute("ALTER TABLE runs ADD COLUMN owner text")


def downgrade() -> None:
    op.execute("ALTER TABLE runs DROP COLUMN owner")
    op.execute("ALTER TABLE periods DROP COLUMN owner")
