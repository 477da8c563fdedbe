"""The accounts of people at an OpenID provider."""

from alembic import op

revision = "operator0011"
down_revision = "operator0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the subject at the OpenID provider to accounts."""
    # "issuer|subject", which never changes its person. Null: the account exists only here.
    op.execute("ALTER TABLE people ADD COLUMN subject text UNIQUE")


def downgrade() -> None:
    """Drop the subject."""
    op.execute("ALTER TABLE people DROP COLUMN subject")
