"""Settings of the service for human tasks."""

from datetime import timedelta

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from sluice.contracts.access.services import CallingService
from sluice.servicekit.settings import ServiceSettings
from wfms.ask.usecases.context import AnnotatorIdentification, AskRules


class AskSettings(ServiceSettings):
    """The settings from ``SLUICE_ASK_…``; times in seconds."""

    model_config = SettingsConfigDict(env_prefix="SLUICE_ASK_")

    port: int = CallingService.ASK.port
    #: Seconds between two rounds, which import new items, deliver decided items to the WMS, and
    #: exclude browsers that answer carelessly.
    period: float = Field(default=2.0, gt=0)
    #: How long a browser may keep an unanswered item before other browsers get it, too.
    assignment_seconds: float = Field(default=600.0, gt=0)
    #: How long a browser may take an answer back.
    undo: float = Field(default=30.0, ge=0)
    #: How long a decided item waits before its file is written. If a browser is found to answer
    #: carelessly until then, its answers do not count.
    settle: float = Field(default=90.0, ge=0)
    #: URL by which browsers reach the pages for annotators: `https://ask.example.org`. Links begin
    #: with it. Empty: they begin with `/ask/`, below the address of the web pages.
    public_url: str = ""
    #: Requests a minute that one browser may send to one instance; 0: any number.
    requests_of_a_browser: int = Field(default=240, ge=0)
    #: New browsers a minute from one address; 0: any number.
    browsers_of_an_address: int = Field(default=60, ge=0)

    #: How browsers without a common cookie are recognised as one person, who has one vote on an
    #: item: `browser` (the address, and what the browser says of itself), `address` (nobody behind
    #: one address gets an item that somebody there has seen) or `off`.
    one_vote: AnnotatorIdentification = AnnotatorIdentification.BROWSER
    #: How long this holds. Later, browsers of one origin may belong to other people, because
    #: addresses are reassigned.
    one_vote_window: float = Field(default=604_800.0, gt=0)

    @property
    def rules(self) -> AskRules:
        """Return the rules of the use cases."""
        return AskRules(
            assignment_duration=timedelta(seconds=self.assignment_seconds),
            undo=timedelta(seconds=self.undo),
            settle=timedelta(seconds=self.settle),
            one_vote=self.one_vote,
            one_vote_window=timedelta(seconds=self.one_vote_window),
        )
