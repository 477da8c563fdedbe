"""Create the schema of the first release, which is in the SQL file of the same name."""

from pathlib import Path

from alembic import op

revision = "wfms_watcher0100"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create all tables."""
    for statement in Path(__file__).with_suffix(".sql").read_text().split(";\n\n"):
        op.execute(statement)
