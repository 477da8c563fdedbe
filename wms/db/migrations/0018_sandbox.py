"""Store which sandbox a pilot's node has."""

from alembic import op

revision = "wms0018"
down_revision = "wms0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    # The table is small, so its rows are checked at once.
    op.execute("""
ALTER TABLE pilots
    ADD COLUMN sandbox text NOT NULL DEFAULT 'none' CHECK (sandbox IN ('namespaces', 'none'))
""")


def downgrade() -> None:
    """Revert the revision."""
    op.execute("ALTER TABLE pilots DROP COLUMN sandbox")
