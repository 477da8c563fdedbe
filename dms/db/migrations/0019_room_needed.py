"""Add the space that storages lack for pending writes."""

from alembic import op

revision = "dms0019"
down_revision = "dms0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute("""
CREATE TABLE room_needed (
    storage_id uuid PRIMARY KEY REFERENCES storages (id) ON DELETE CASCADE,
    -- Bytes that the storage has no room for, as the WMS said last.
    needed bigint NOT NULL CHECK (needed >= 0),
    -- What was said long ago no longer holds.
    told_at timestamptz NOT NULL DEFAULT now()
)
""")


def downgrade() -> None:
    """Revert the change."""
    op.execute("DROP TABLE room_needed")
