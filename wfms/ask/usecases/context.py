"""The context of the use cases of the service for human tasks."""

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from sluice.clients.wms import WmsClient
from sluice.servicekit.database import Database


class AnnotatorIdentification(StrEnum):
    """How browsers are recognised as one person, who has one vote on an item."""

    BROWSER = "browser"  #: by address and by what the browser says of itself
    ADDRESS = "address"  #: by address alone
    OFF = "off"  #: by cookie alone


@dataclass(frozen=True, slots=True)
class AskRules:
    """Rules for human tasks.

    Attributes:
        assignment_duration: How long a browser may keep an item before other browsers get it, too.
        undo: How long an answer may be taken back.
        settle: How long a decided item waits before the WMS gets its answer. Careless browsers are
            found in the meantime.
        one_vote: How a person without the cookie is recognised.
        one_vote_window: How long this holds.
    """

    assignment_duration: timedelta = timedelta(minutes=10)
    undo: timedelta = timedelta(seconds=30)
    settle: timedelta = timedelta(seconds=90)
    one_vote: AnnotatorIdentification = AnnotatorIdentification.BROWSER
    one_vote_window: timedelta = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class AskContext:
    """The context of the use cases."""

    database: Database
    wms: WmsClient
    rules: AskRules = field(default_factory=AskRules)
