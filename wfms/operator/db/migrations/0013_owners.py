"""The owners of templates."""

from alembic import op

revision = "operator0013"
down_revision = "operator0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table ``template_owners``, and add owners to run templates."""
    op.execute(
        """
-- By name, for all of its versions, also when they are deleted. Names that are not here are
-- everybody's.
CREATE TABLE template_owners (
    name text PRIMARY KEY,
    -- The person that published first; null: nobody that is known.
    owner text,
    owner_group text NOT NULL,
    shared_with text[] NOT NULL DEFAULT '{}'
)
"""
    )
    op.execute(
        """
ALTER TABLE run_templates
    ADD COLUMN owner text,
    ADD COLUMN owner_group text NOT NULL DEFAULT 'everyone'
"""
    )


def downgrade() -> None:
    """Drop the owners of templates."""
    op.execute("DROP TABLE template_owners")
    op.execute("ALTER TABLE run_templates DROP COLUMN owner, DROP COLUMN owner_group")
