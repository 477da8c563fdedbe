"""People whom an OpenID provider knows."""

from alembic import op

revision = "operator0011"
down_revision = "operator0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # "issuer|subject": for ever the same person's. Null: known here alone.
    op.execute("ALTER TABLE people ADD COLUMN subject text UNIQUE")


def downgrade() -> None:
    op.execute("ALTER TABLE people DROP COLUMN subject")
