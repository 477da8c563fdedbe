"""What the use cases of the intake work with."""

from dataclasses import dataclass
from datetime import timedelta

from sluice.clients.chains import ChainsClient
from sluice.clients.dms import DmsClient
from sluice.clients.operator import OperatorClient
from sluice.servicekit.database import Database


@dataclass(frozen=True, slots=True)
class IntakeContext:
    """Made in ``wiring``; a use case that needs nothing but the decisions takes the ``database``.

    ``page``: data sets decided upon in one go. ``hold``: how long a claim on a hand-over lasts.
    ``longest_pause`` between two tries to hand a data set over. ``generations``: how many chains
    of a ring of templates begin one after the other."""

    database: Database
    dms: DmsClient
    operator: OperatorClient
    chains: ChainsClient
    page: int = 100
    hold: timedelta = timedelta(seconds=10)
    longest_pause: timedelta = timedelta(seconds=30)
    generations: int = 20
