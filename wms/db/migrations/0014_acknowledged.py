"""Add the acknowledgement of lost pilots, which need attention until then."""

from alembic import op

revision = "wms0014"
down_revision = "wms0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute("""
ALTER TABLE pilots
    -- Who has seen that it was lost, and when.
    ADD COLUMN acknowledged_by text,
    ADD COLUMN acknowledged_at timestamptz,
    ADD CONSTRAINT pilots_acknowledged_by_somebody
        CHECK ((acknowledged_at IS NULL) = (acknowledged_by IS NULL)) NOT VALID
""")


def downgrade() -> None:
    """Revert the revision."""
    op.execute("ALTER TABLE pilots DROP COLUMN acknowledged_at, DROP COLUMN acknowledged_by")
