"""Store when a task that waits for room was last tried, and who reported the missing room."""

from alembic import op

revision = "wms0044"
down_revision = "wms0043"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute("""
ALTER TABLE room_waits
    -- When the last trial began, or the task began to wait.
    ADD COLUMN tried_at timestamptz NOT NULL DEFAULT now(),
    -- Since when a trial may begin. NULL: none may.
    ADD COLUMN opened_at timestamptz,
    -- The pilot whose report says that there was no room. NULL: the DMS found the storage full.
    ADD COLUMN pilot_uid uuid
""")


def downgrade() -> None:
    """Revert the revision."""
    op.execute("""
ALTER TABLE room_waits DROP COLUMN tried_at, DROP COLUMN opened_at, DROP COLUMN pilot_uid
""")
