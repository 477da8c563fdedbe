"""Tasks whose jobs run in containers only, and the engines that pilots' nodes have for them."""

from alembic import op

revision = "wms0006"
down_revision = "wms0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE tasks ADD COLUMN needs_container boolean NOT NULL DEFAULT false")
    op.execute("ALTER TABLE pilots ADD COLUMN engines text[] NOT NULL DEFAULT '{}'")


def downgrade() -> None:
    op.execute("ALTER TABLE tasks DROP COLUMN needs_container")
    op.execute("ALTER TABLE pilots DROP COLUMN engines")
