"""Store the last handled time of templates' schedules."""

from alembic import op

revision = "wfms_intake0006"
down_revision = "wfms_intake0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute(
        """
CREATE TABLE schedules (
    template text PRIMARY KEY,
    -- Schedule and zone: another one begins anew.
    spec text NOT NULL,
    -- Times up to this one were seen to, or were before there was the schedule.
    until timestamptz NOT NULL,
    -- The last time that it ran for, and what came of it.
    last_at timestamptz,
    came_of_it text NOT NULL DEFAULT ''
)
"""
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute("DROP TABLE schedules")
