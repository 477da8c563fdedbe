"""Templates of several files."""

from alembic import op

revision = "operator0003"
down_revision = "operator0002"
branch_labels = None
depends_on = None

FILES = """
-- Path of the file that text is, and all files by path where there are several. Null in rows of
-- earlier releases.
ALTER TABLE templates ADD COLUMN main text,
    ADD COLUMN files jsonb CONSTRAINT files_are_texts
        CHECK (jsonb_typeof(files) = 'object' AND files ? main)
"""


def upgrade() -> None:
    """Add the files of templates, and the path of their main file."""
    op.execute(FILES)


def downgrade() -> None:
    """Drop the files and the path of the main file."""
    op.execute("ALTER TABLE templates DROP COLUMN files, DROP COLUMN main")
