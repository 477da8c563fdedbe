"""Create the schema of the first release, which is in the SQL file of the same name."""

from sluice.servicekit.migrations.sql_file import apply_sql_file

revision = "wfms_ask0201"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create all tables."""
    apply_sql_file(__file__)
