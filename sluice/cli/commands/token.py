"""`sluice token`: what a request says who sends it with."""

from sluice.cli.connection import running_url
from sluice.cli.errors import plain_errors
from sluice.cli.system import System, with_system
from sluice.contracts.problems import NotAvailable
from sluice.credentials import TOKEN, token_for


@with_system
def token(system: System) -> None:
    """Print the token for a system, for programs that ask it by REST: as in curl --header
    "Authorization: Bearer $(sluice token)". Exits 1 where none is known."""
    url, found = plain_errors(lambda: _find(system))
    if system.as_json:
        system.answer({"url": url, "token": found}, "")
    else:
        print(found)  # as it is, however narrow the terminal


def _find(system: System) -> tuple[str, str]:
    url = system.url or running_url(system.home)
    if url is None:
        raise NotAvailable(f"no system runs in {system.home}: give --url")
    found = token_for(url)
    if found is None:
        raise NotAvailable(
            f"no token is known for {url}: set {TOKEN}, or ask as the user who started it"
        )
    return url, found
