"""Client of the human-task service, for its supervisors."""

from sluice.clients.generated.ask import AskCalls


class AskClient(AskCalls):
    """Client of the human-task service. Errors are as in ``ServiceClient``."""

    service = "wfms.ask"
