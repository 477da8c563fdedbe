"""Settings of the service that asks people."""

from datetime import timedelta

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from sluice.servicekit.settings import ServiceSettings
from wfms.ask.usecases.context import AskRules, OneVote


class AskSettings(ServiceSettings):
    """``SLUICE_ASK_…``; times in seconds."""

    model_config = SettingsConfigDict(env_prefix="SLUICE_ASK_")

    port: int = 8086
    #: How often it looks for new items, for answers to give to the WMS, and for who answers without
    #: looking.
    period: float = Field(default=2.0, gt=0)
    #: How long a browser may keep an item that it has not answered before it goes to others, too.
    lend: float = Field(default=600.0, gt=0)
    #: How long an answer may be taken back.
    undo: float = Field(default=30.0, ge=0)
    #: How long what is agreed on waits before its file is written: until then answers of somebody
    #: who is found not to look do not count.
    settle: float = Field(default=90.0, ge=0)
    #: Under which browsers reach its pages: `https://ask.example.org`. Links that people make begin
    #: so; where it is empty, they begin with `/ask/`, below the address of the web pages.
    public_url: str = ""
    #: Requests that one browser may send in a minute to one instance; 0: any number.
    requests_of_a_browser: int = Field(default=240, ge=0)
    #: Browsers that may come anew in a minute from one address; 0: any number.
    browsers_of_an_address: int = Field(default=60, ge=0)

    #: By what browsers are taken for those of one person, who has one vote on an item, also without
    #: the cookie: `browser` (the address, and what the browser says of itself), `address` (nobody
    #: behind one address gets an item that somebody there has seen) or `off`.
    one_vote: OneVote = OneVote.BROWSER
    #: For how long; later, browsers of one origin may be others' (addresses are given anew).
    one_vote_window: float = Field(default=604_800.0, gt=0)

    @property
    def rules(self) -> AskRules:
        return AskRules(
            lend=timedelta(seconds=self.lend),
            undo=timedelta(seconds=self.undo),
            settle=timedelta(seconds=self.settle),
            one_vote=self.one_vote,
            one_vote_window=timedelta(seconds=self.one_vote_window),
        )
