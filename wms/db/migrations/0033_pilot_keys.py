"""The key that a pilot has shown when it registered."""

from alembic import op

revision = "wms0033"
down_revision = "wms0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Its thumbprint (RFC 7638); null: a pilot of the release before shows none.
    op.execute("ALTER TABLE pilots ADD COLUMN key text")


def downgrade() -> None:
    op.execute("ALTER TABLE pilots DROP COLUMN key")
