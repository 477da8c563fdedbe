"""Uploads that cannot succeed, since files are not as they were registered."""

from alembic import op

revision = "dms0018"
down_revision = "dms0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
ALTER TABLE datasets
    -- Why its upload cannot succeed. It is halted as well.
    ADD COLUMN lost text
""")


def downgrade() -> None:
    op.execute("ALTER TABLE datasets DROP COLUMN lost")
