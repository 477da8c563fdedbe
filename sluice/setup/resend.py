"""Repeated sending of recent messages, after the loss of a broker or a restore of the databases."""

from collections.abc import Mapping

import asyncpg

from sluice.contracts.common.numbers import format_count
from sluice.contracts.common.problems import NotAvailable
from sluice.servicekit.database import CANNOT_CONNECT, CONNECT_TIMEOUT, error_text
from sluice.servicekit.messages.outbox import SEND_AGAIN


async def send_again(databases: Mapping[str, str]) -> list[str]:
    """Mark the messages that services still keep (``keep_sent``) as not sent.

    Each service's relay sends them, and receivers drop those that they have already applied.
    Repeating the call is safe.

    Args:
        databases: The URL of each service's database.

    Returns:
        A message for each service that had any.

    Raises:
        NotAvailable: A database does not answer.
    """
    changes = []
    for service, url in databases.items():
        try:
            connection = await asyncpg.connect(url, timeout=CONNECT_TIMEOUT)
        except CANNOT_CONNECT as error:
            raise NotAvailable(
                f"the database of {service} does not answer: {error_text(error)}", service=service
            ) from error
        try:
            number = int((await connection.execute(SEND_AGAIN)).removeprefix("UPDATE "))
        finally:
            await connection.close(timeout=CONNECT_TIMEOUT)
        if number:
            changes.append(f"{service}: {format_count(number, 'message')} sent again")
    return changes
