"""What the use cases of the service that asks work with."""

from dataclasses import dataclass, field
from datetime import timedelta

from sluice.clients.wms import WmsClient
from sluice.servicekit.database import Database


@dataclass(frozen=True, slots=True)
class AskRules:
    """``lend``: how long a browser may keep an item before it goes to others, too. ``undo``: how
    long an answer may be taken back. ``settle``: how long what is decided waits before it is given
    to the WMS: until then it may be found that somebody answered without looking."""

    lend: timedelta = timedelta(minutes=10)
    undo: timedelta = timedelta(seconds=30)
    settle: timedelta = timedelta(seconds=90)


@dataclass(frozen=True, slots=True)
class AskContext:
    database: Database
    wms: WmsClient
    rules: AskRules = field(default_factory=AskRules)
