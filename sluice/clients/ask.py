"""Client of the human-task service, for its supervisors."""

from sluice.clients.operator.asking import AskWatchCalls


class AskClient(AskWatchCalls):
    """Client of the human-task service. Errors are as in ``ServiceClient``."""

    service = "wfms.ask"
