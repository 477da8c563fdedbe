"""The files of a template, and the count of stored templates."""

import asyncpg

from tests.integration.operator.conftest import Operator
from tests.unit.cwl.documents.two_files import TOOL, WORKFLOW

PARTS = {
    "flow/workflow.cwl": WORKFLOW,
    "flow/tools/join.cwl": TOOL.replace("\n", "\r\n"),
    "flow/notes.txt": "\ufeffnaïve\n",
}


async def count_rows(operator: Operator) -> int:
    connection = await asyncpg.connect(operator.database_url)
    try:
        return int(await connection.fetchval("SELECT count(*) FROM templates"))
    finally:
        await connection.close()
