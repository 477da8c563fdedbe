"""Add the local folders of storages.

They have a table of their own: the code of the previous release reads all columns of storages.
"""

from alembic import op

revision = "dms0007"
down_revision = "dms0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute("""
-- Without links, as it was when the storage was registered or last enabled (or first seen by a
-- release that looks). None: the storage is in no local folder, or has not been seen.
CREATE TABLE storage_folders (
    storage_id uuid PRIMARY KEY REFERENCES storages,
    path text NOT NULL
)
""")


def downgrade() -> None:
    """Revert the change."""
    op.execute("DROP TABLE storage_folders")
