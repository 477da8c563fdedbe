"""The context of the intake's use cases."""

from dataclasses import dataclass
from datetime import timedelta

from sluice.clients.chains import ChainsClient
from sluice.clients.dms import DmsClient
from sluice.clients.operator import OperatorClient
from sluice.servicekit.database import Database


@dataclass(frozen=True, slots=True)
class IntakeContext:
    """The clients and settings that use cases need.

    Use cases that need only the decisions take the ``database``.

    Attributes:
        page: Number of data sets matched in one transaction.
        claim_duration: How long a claim on a handover lasts.
        longest_pause: Longest pause between two attempts to hand a data set over.
        generations: Number of chains that start one after the other in a trigger cycle.
    """

    database: Database
    dms: DmsClient
    operator: OperatorClient
    chains: ChainsClient
    page: int = 100
    claim_duration: timedelta = timedelta(seconds=10)
    longest_pause: timedelta = timedelta(seconds=30)
    generations: int = 20
