"""The background loops of the operator service."""

from functools import partial

from sluice.servicekit.running.loop import LoopDeclaration
from wfms.operator.assets.usecases.delete_removed_assets import delete_removed_assets
from wfms.operator.chains.usecases.leases.end_client_leases import end_client_leases
from wfms.operator.context import OperatorContext
from wfms.operator.monitoring.usecases.apprise_notifier import AppriseNotifier
from wfms.operator.monitoring.usecases.notify_people import notify_people
from wfms.operator.secrets.usecases.reencrypt_secrets import reencrypt_secrets
from wfms.operator.settings import OperatorSettings

#: Seconds between two searches for removed versions of assets that chains no longer need.
DELETE_REMOVED_ASSETS_PERIOD = 60.0
#: Maximum seconds between two searches for expired client leases. A lease is looked at four times
#: in its duration, or more often.
END_CLIENT_LEASES_PERIOD = 15.0
#: Seconds between two searches for secrets to encrypt with a new key. Keys change only with a start
#: of the service.
REENCRYPT_SECRETS_PERIOD = 86400.0


def declare_loops(context: OperatorContext, settings: OperatorSettings) -> list[LoopDeclaration]:
    """Return the declarations of the loops.

    Raises:
        ValueError: Apprise does not support an address for notifications.
    """
    leases = min(END_CLIENT_LEASES_PERIOD, context.client_lease / 4)
    reencrypt = partial(reencrypt_secrets, context)
    delete = partial(delete_removed_assets, context)
    end = partial(end_client_leases, context)
    loops = [
        LoopDeclaration("operator.reencrypt_secrets", REENCRYPT_SECRETS_PERIOD, reencrypt),
        LoopDeclaration("operator.delete_removed_assets", DELETE_REMOVED_ASSETS_PERIOD, delete),
        LoopDeclaration("operator.end_client_leases", leases, end),
    ]
    if urls := [url.get_secret_value() for url in settings.notify]:
        notifier, public_url = AppriseNotifier(urls), settings.public_url
        notify = partial(notify_people, context, notifier, public_url=public_url)
        loops.append(
            LoopDeclaration("operator.notify_people", settings.notify_people_period, notify)
        )
    return loops
