"""Unpublished templates, which came with a run or are previewed before publication."""

from alembic import op

revision = "operator0004"
down_revision = "operator0003"
branch_labels = None
depends_on = None

# A separate table: the previous release reads all of `templates` and would match data sets with
# unpublished templates.
RUN_TEMPLATES = """
CREATE TABLE run_templates (
    id uuid PRIMARY KEY,
    -- SHA-256 of all that it is made of: the same files again are the same template.
    digest bytea NOT NULL UNIQUE CHECK (length(digest) = 32),
    name text NOT NULL,
    -- As in templates.
    main text NOT NULL,
    text text NOT NULL,
    files jsonb CHECK (jsonb_typeof(files) = 'object' AND files ? main),
    template jsonb NOT NULL CHECK (jsonb_typeof(template) = 'object'),
    plan jsonb NOT NULL CHECK (jsonb_typeof(plan) = 'object'),
    warnings jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(warnings) = 'array'),
    created_at timestamptz NOT NULL DEFAULT now(),
    -- Of the last run; null: nobody has run it, it is looked at before it is published.
    run_at timestamptz,
    -- Not listed any more; its chains still show it.
    deleted_at timestamptz
)
"""


def upgrade() -> None:
    """Create the table ``run_templates`` and its index."""
    op.execute(RUN_TEMPLATES)
    op.execute(
        "CREATE INDEX run_templates_listed ON run_templates (run_at DESC) WHERE run_at IS NOT NULL"
        " AND deleted_at IS NULL"
    )


def downgrade() -> None:
    """Drop the table ``run_templates``."""
    op.execute("DROP TABLE run_templates")
