"""Store the step whose jobs a pilot gets first by order of a person."""

from alembic import op

revision = "wms0025"
down_revision = "wms0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute("""
ALTER TABLE pilots
    -- Its jobs go to this pilot first, whatever their rank; NULL: nobody has said so.
    ADD COLUMN to_load text
""")


def downgrade() -> None:
    """Revert the revision."""
    op.execute("ALTER TABLE pilots DROP COLUMN to_load")
