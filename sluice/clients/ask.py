"""Client of the service that asks people, for who watches it."""

from sluice.clients.operator.asking import AskWatchCalls


class AskClient(AskWatchCalls):
    """Errors as in ``ServiceClient``."""

    service = "wfms.ask"
