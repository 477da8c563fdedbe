"""Where storages' folders lie. In a table of its own: the code of the release before reads all
columns of storages."""

from alembic import op

revision = "dms0007"
down_revision = "dms0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
-- Without links, as it was when the storage was registered or last enabled (or first seen by a
-- release that looks). None: the storage is in no local folder, or has not been seen.
CREATE TABLE storage_folders (
    storage_id uuid PRIMARY KEY REFERENCES storages,
    path text NOT NULL
)
""")


def downgrade() -> None:
    op.execute("DROP TABLE storage_folders")
