"""Client of the human-task service, for its supervisors."""

from sluice.clients.operator.human_tasks import HumanStepCalls


class AskClient(HumanStepCalls):
    """Client of the human-task service. Errors are as in ``ServiceClient``."""

    service = "wfms.ask"
