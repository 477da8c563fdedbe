"""Add tasks whose jobs wait for room on a storage."""

from alembic import op

revision = "wms0042"
down_revision = "wms0041"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute("""
CREATE TABLE room_waits (
    task_uid uuid PRIMARY KEY REFERENCES tasks (uid) ON DELETE CASCADE,
    -- The storage that lacks room, by its URL, and by its name where the DMS has told it.
    url text NOT NULL,
    name text NOT NULL DEFAULT '',
    -- Bytes: what the largest attempt asked for, and what was free when last looked at.
    needed bigint NOT NULL CHECK (needed >= 0),
    free bigint,
    since timestamptz NOT NULL DEFAULT now(),
    -- One job may be given to a pilot, as a trial: there seems to be room. No other job may.
    open boolean NOT NULL DEFAULT false,
    -- Trials in a row that found no room though there seemed to be some, and when the next may be.
    trials int NOT NULL DEFAULT 0 CHECK (trials >= 0),
    try_at timestamptz NOT NULL
)
""")


def downgrade() -> None:
    """Revert the revision."""
    op.execute("DROP TABLE room_waits")
