"""What the use cases of the service that asks work with."""

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from sluice.clients.wms import WmsClient
from sluice.servicekit.database import Database


class OneVote(StrEnum):
    """By what browsers are taken for those of one person, who has one vote on an item."""

    BROWSER = "browser"  #: the address, and what the browser says of itself
    ADDRESS = "address"  #: the address alone
    OFF = "off"  #: the cookie alone


@dataclass(frozen=True, slots=True)
class AskRules:
    """``lend``: how long a browser may keep an item before it goes to others, too. ``undo``: how
    long an answer may be taken back. ``settle``: how long what is decided waits before it is given
    to the WMS: until then it may be found that somebody answered without looking. ``one_vote``: by
    what one person is known who has deleted the cookie; ``one_vote_window``: for how long.
    """

    lend: timedelta = timedelta(minutes=10)
    undo: timedelta = timedelta(seconds=30)
    settle: timedelta = timedelta(seconds=90)
    one_vote: OneVote = OneVote.BROWSER
    one_vote_window: timedelta = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class AskContext:
    database: Database
    wms: WmsClient
    rules: AskRules = field(default_factory=AskRules)
