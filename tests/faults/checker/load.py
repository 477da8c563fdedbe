"""Read a snapshot from the databases, the file system and the broker's management interface."""

import asyncio
import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import asyncpg
import httpx

from tests.faults.checker.snapshot import TABLES, Row, Snapshot, StoredFile, get_path


async def load_snapshot(
    databases: Mapping[str, str], queues: Mapping[str, int], *, marker: str
) -> Snapshot:
    """Load the state.

    ``databases`` maps services to URLs with a login that may read all tables. ``marker`` is in the
    command line of each process of a tool.
    """
    services = list(TABLES)
    tables = dict(
        zip(
            services,
            await asyncio.gather(
                *(load_tables(databases[name], TABLES[name]) for name in services)
            ),
            strict=True,
        )
    )
    roots = [get_path(row["url"]) for row in tables["dms"]["storages"]]
    files = await asyncio.to_thread(read_storages, roots)
    return Snapshot(tables, files, dict(queues), find_processes(marker))


async def load_tables(url: str, tables: tuple[str, ...]) -> dict[str, list[Row]]:
    """Return all rows in one consistent view."""
    connection = await asyncpg.connect(url)
    try:
        for kind in ("json", "jsonb"):
            await connection.set_type_codec(
                kind, schema="pg_catalog", encoder=json.dumps, decoder=json.loads
            )
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            return {
                table: [dict(row) for row in await connection.fetch(f'SELECT * FROM "{table}"')]  # noqa: S608
                for table in tables
            }
    finally:
        await connection.close()


def read_storages(roots: list[str]) -> dict[str, StoredFile]:
    """Return every file below the roots with its digest; files deleted meanwhile are left out."""
    files_by_path: dict[str, StoredFile] = {}
    for root in roots:
        for folder, _, names in os.walk(root):
            for path in (Path(folder, name) for name in names):
                with contextlib.suppress(FileNotFoundError):
                    content = path.read_bytes()
                    files_by_path[str(path)] = StoredFile(
                        len(content), hashlib.sha256(content).hexdigest()
                    )
    return files_by_path


def find_processes(marker: str) -> dict[int, str]:
    """Map process ids to command lines of processes with the marker."""
    commands: dict[int, str] = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            command = path.read_bytes().decode(errors="replace")
            if marker in command:
                commands[int(path.parent.name)] = " ".join(command.split("\0"))[:80]
    return commands


async def count_messages(management_url: str) -> dict[str, int]:
    """Count the messages in every queue of RabbitMQ, including unanswered ones.

    The broker updates the counts every five seconds.
    """
    async with httpx.AsyncClient(base_url=management_url, timeout=10) as broker:
        answer: list[dict[str, Any]] = (await broker.get("/api/queues")).raise_for_status().json()
    return {queue["name"]: queue.get("messages", 0) for queue in answer}


async def count_stored_messages(url: str) -> dict[str, int]:
    """Count the messages of a system that has its queues in a database."""
    connection = await asyncpg.connect(url)
    try:
        waiting = await connection.fetch(
            "SELECT queue, count(*) AS n FROM sluice_transport.message GROUP BY queue"
        )
        dead = await connection.fetch(
            "SELECT queue, count(*) AS n FROM sluice_transport.dead_letter GROUP BY queue"
        )
    finally:
        await connection.close()
    return {row["queue"]: row["n"] for row in waiting} | {
        f"{row['queue']}.dead": row["n"] for row in dead
    }
