"""Revisions whose statements are in an SQL file."""

from pathlib import Path

from alembic import op


def apply_sql_file(revision_file: str) -> None:
    """Execute the statements of the SQL file beside a revision, which has the same name.

    A semicolon and an empty line separate statements.
    """
    text = Path(revision_file).with_suffix(".sql").read_text(encoding="utf-8")
    for statement in text.rstrip().removesuffix(";").split(";\n\n"):
        op.execute(statement)
