"""Data sets that closed at one moment, or with an earlier time than one before, get times of their
own.

From now on times of closing are drawn in the order of closing, no two alike: a reader may go by
them.
"""

from alembic import op

revision = "dms0004"
down_revision = "dms0003"
branch_labels = None
depends_on = None

# Each at least a microsecond after the one before; most keep the time they have.
UPGRADE = """
WITH placed AS (
    SELECT uid, closed_at, closed_position,
        row_number() OVER closing * interval '1 microsecond' AS turn
    FROM datasets WHERE closed_position IS NOT NULL WINDOW closing AS (ORDER BY closed_position)
), timed AS (
    SELECT uid, closed_at, max(closed_at - turn) OVER (ORDER BY closed_position) + turn AS time
    FROM placed
)
UPDATE datasets AS d SET closed_at = timed.time
FROM timed WHERE d.uid = timed.uid AND timed.time <> timed.closed_at
"""


def upgrade() -> None:
    op.execute(UPGRADE)


def downgrade() -> None:
    """The times stay as they are."""
