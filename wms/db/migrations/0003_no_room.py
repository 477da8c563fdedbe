"""Add an error class for missing space on a storage or on the node's disk."""

from alembic import op

revision = "wms0003"
down_revision = "wms0002"
branch_labels = None
depends_on = None

BEFORE = (
    "tool_failed",
    "tool_refused",
    "tool_timeout",
    "out_of_memory",
    "stage_in_failed",
    "checksum_mismatch",
    "stage_out_failed",
    "pilot_lost",
    "canceled",
    "internal",
)
CHECKS = (("jobs", "error_class"), ("attempts", "error_class"))


def _allow(*names: str) -> None:
    """Replace the checks of the error classes.

    The new checks hold for new rows at once. The next revision validates old rows without blocking
    others.
    """
    listed = ", ".join(f"'{name}'" for name in names)
    for table, column in CHECKS:
        constraint = f"{table}_{column}_check"
        op.execute(f"ALTER TABLE {table} DROP CONSTRAINT {constraint}")
        op.execute(
            f"ALTER TABLE {table} ADD CONSTRAINT {constraint} CHECK ({column} IN ({listed})) NOT"
            " VALID"
        )


def upgrade() -> None:
    """Apply the revision."""
    _allow(*BEFORE[:7], "no_room", *BEFORE[7:])


def downgrade() -> None:
    """Revert the revision."""
    _allow(*BEFORE)
