"""Let the main file of a template name a process (``packed.cwl#count``)."""

from sluice.servicekit.migrations.sql_file import apply_sql_file

revision = "operator0202"
down_revision = "operator0201"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Compare the files with the path alone."""
    apply_sql_file(__file__)
