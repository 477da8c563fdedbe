"""The tool that checks the versions of an asset."""

from alembic import op

revision = "operator0009"
down_revision = "operator0008"
branch_labels = None
depends_on = None

TABLES = ("assets", "asset_drafts")


def upgrade() -> None:
    """Add the check tool to assets and their drafts."""
    for table in TABLES:
        # The name and the text of the tool's file; null: no check.
        op.execute(
            f"ALTER TABLE {table} ADD COLUMN check_tool jsonb"
            " CHECK (jsonb_typeof(check_tool) = 'object')"
        )


def downgrade() -> None:
    """Drop the check tool."""
    for table in TABLES:
        op.execute(f"ALTER TABLE {table} DROP COLUMN check_tool")
