"""No foreign keys from a data set's files and from replicas to files.

PostgreSQL looks each one up by itself (docs/adr/0001). The ids come from the sequence in the same
statement, or from rows read in the same transaction, and no file's row is ever removed.
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
    for table, constraint in CONSTRAINTS:
        op.execute(f"ALTER TABLE {table} DROP CONSTRAINT {constraint}")


def downgrade() -> None:
    for table, constraint in CONSTRAINTS:
        op.execute(
            f"ALTER TABLE {table} ADD CONSTRAINT {constraint} FOREIGN KEY (file_id) REFERENCES"
            " files"
        )
