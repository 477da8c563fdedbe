"""Query plans of statements."""

import json
from typing import Any

from tests.integration.wms.wms_fixture import WmsFixture


async def explain_query(wms: WmsFixture, query: str, *arguments: Any) -> dict[str, Any]:
    """Return the plan of a statement as it is executed, and roll the statement back."""
    async with wms.database.connection() as connection:
        transaction = connection.transaction()
        await transaction.start()
        try:
            text = await connection.fetchval(
                f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {query}", *arguments
            )
        finally:
            await transaction.rollback()
    query_plan: dict[str, Any] = json.loads(text)[0]["Plan"]
    return query_plan


def list_nodes(tree: dict[str, Any]) -> list[dict[str, Any]]:
    return [tree, *(node for child in tree.get("Plans", []) for node in list_nodes(child))]


def list_job_scans(tree: dict[str, Any]) -> set[str]:
    """Return how the table of jobs is read: names of indexes, or else kinds of scan."""
    on_jobs = [
        node
        for node in list_nodes(tree)
        if node.get("Relation Name") == "jobs" or "jobs" in node.get("Index Name", "")
    ]
    return {
        node.get("Index Name", node["Node Type"]) for node in on_jobs if "Scan" in node["Node Type"]
    }


def count_buffers(tree: dict[str, Any]) -> int:
    return int(tree["Shared Hit Blocks"]) + int(tree["Shared Read Blocks"])
