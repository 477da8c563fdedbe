"""Remove the foreign keys from data sets' files, and from replicas, to files.

PostgreSQL checks such keys row by row (docs/adr/0001). The ids come from the sequence in the same
statement, or from rows read in the same transaction. No row of a file is ever deleted.
"""

from alembic import op

revision = "dms0003"
down_revision = "dms0002"
branch_labels = None
depends_on = None

CONSTRAINTS = (
    ("dataset_files", "dataset_files_file_id_fkey"),
    ("replicas", "replicas_file_id_fkey"),
)


def upgrade() -> None:
    """Apply the change."""
    for table, constraint in CONSTRAINTS:
        op.execute(f"ALTER TABLE {table} DROP CONSTRAINT {constraint}")


def downgrade() -> None:
    """Revert the change."""
    for table, constraint in CONSTRAINTS:
        op.execute(
            f"ALTER TABLE {table} ADD CONSTRAINT {constraint} FOREIGN KEY (file_id) REFERENCES"
            " files"
        )
