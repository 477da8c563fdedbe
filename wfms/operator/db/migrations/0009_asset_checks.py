"""The tool that says whether an asset is right, kept with its versions."""

from alembic import op

revision = "operator0009"
down_revision = "operator0008"
branch_labels = None
depends_on = None

TABLES = ("assets", "asset_drafts")


def upgrade() -> None:
    for table in TABLES:
        # Its file's name, and its text; null: it has none.
        op.execute(
            f"ALTER TABLE {table} ADD COLUMN check_tool jsonb"
            " CHECK (jsonb_typeof(check_tool) = 'object')"
        )


def downgrade() -> None:
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} DROP COLUMN check_tool")
