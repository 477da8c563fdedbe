"""Give each closed data set a closing time of its own, in order of closing.

Data sets that closed at the same time, or at an earlier time than a predecessor, get later times.
New closing times are unique and follow the order of closing, so that readers may filter by them.
"""

from alembic import op

revision = "dms0004"
down_revision = "dms0003"
branch_labels = None
depends_on = None

# Each time is at least a microsecond after the previous one; most times do not change.
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
    """Apply the change."""
    op.execute(UPGRADE)


def downgrade() -> None:
    """Keep the times as they are."""
