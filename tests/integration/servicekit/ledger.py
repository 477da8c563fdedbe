"""A minimal service that writes a row for every ``DeleteDataset`` message that it receives."""

from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.messaging.messages import DMS_DELETIONS, DeleteDataset
from sluice.servicekit.database import Database, Transaction
from sluice.servicekit.messages.consumer import MAX_TRANSACTION_SECONDS, QueueConsumer
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.migrate import Migrator
from sluice.servicekit.transport.base import Transport


class Ledger:
    """The service. A test adds errors to ``failures`` that the handler raises before it commits."""

    def __init__(self, database: Database, transport: Transport) -> None:
        self.database = database
        self.failures: list[Exception] = []
        self.consumer = self.receiver(transport)

    def receiver(
        self, transport: Transport, *, seconds: float = MAX_TRANSACTION_SECONDS
    ) -> QueueConsumer:
        """Return a consumer whose transactions take no further message after ``seconds``."""
        return QueueConsumer(
            transport=transport,
            database=self.database,
            metrics=ServiceMetrics(),
            queue=DMS_DELETIONS,
            handlers={DMS_DELETIONS: self._write},
            transaction_seconds=seconds,
        )

    async def create_tables(self) -> None:
        """Create the ledger's table and the watcher's tables, with outbox and inbox."""
        await Migrator(self.database.url, "wfms.watcher.db.migrations").start()
        async with self.database.connection() as connection:
            await connection.execute("CREATE TABLE ledger (uid uuid NOT NULL)")

    async def _write(self, transaction: Transaction, message: DeleteDataset) -> None:
        await transaction.connection.execute("INSERT INTO ledger (uid) VALUES ($1)", message.uid)
        if self.failures:
            raise self.failures.pop()

    async def rows(self) -> list[str]:
        async with self.database.connection() as connection:
            return [str(row["uid"]) for row in await connection.fetch("SELECT uid FROM ledger")]


def make_refusal() -> Unprocessable:
    return Unprocessable("no such data set, and there never will be")
