"""What pilots' nodes have to keep jobs in that ask for a sandbox."""

from alembic import op

revision = "wms0018"
down_revision = "wms0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # The table is small, so its rows are checked at once.
    op.execute("""
ALTER TABLE pilots
    ADD COLUMN sandbox text NOT NULL DEFAULT 'none' CHECK (sandbox IN ('namespaces', 'none'))
""")


def downgrade() -> None:
    op.execute("ALTER TABLE pilots DROP COLUMN sandbox")
