"""The groups that own the templates which may use a secret, and the names of assets and tools.

Of secrets that are there: the group that owns all templates named, where they are named and not
given by a pattern; else the group that everybody is in.
"""

from alembic import op

revision = "operator0017"
down_revision = "operator0016"
branch_labels = None
depends_on = None

GROUPS_OF_NAMES = """
UPDATE secrets SET owner_group = named.owner_group FROM (
    SELECT s.name, s.version, min(o.owner_group) AS owner_group
    FROM secrets AS s CROSS JOIN LATERAL unnest(s.templates) AS t (template)
    LEFT JOIN template_owners AS o ON o.name = t.template
    GROUP BY s.name, s.version
    HAVING count(o.owner_group) = count(*) AND count(DISTINCT o.owner_group) = 1
) AS named
WHERE secrets.name = named.name AND secrets.version = named.version
"""


NAME_OWNERS = """
-- For all versions. Names that are not here belong to everyone.
CREATE TABLE name_owners (
    kind text NOT NULL CHECK (kind IN ('asset', 'tool')),
    name text NOT NULL,
    -- The person who stored the first version; null: nobody that is known.
    owner text,
    owner_group text NOT NULL,
    PRIMARY KEY (kind, name)
)
"""


def upgrade() -> None:
    """Add an owner group to secrets, and create the table ``name_owners``."""
    op.execute(
        """
        ALTER TABLE secrets
            -- Whose templates may use it.
            ADD COLUMN owner_group text NOT NULL DEFAULT 'everyone'
        """
    )
    op.execute(GROUPS_OF_NAMES)
    op.execute(NAME_OWNERS)


def downgrade() -> None:
    """Drop the table ``name_owners`` and the owner group of secrets."""
    op.execute("DROP TABLE name_owners")
    op.execute("ALTER TABLE secrets DROP COLUMN owner_group")
