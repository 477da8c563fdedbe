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
ASSETS_PERIOD = 60.0
#: Maximum seconds between two searches for expired client leases. A lease is looked at four times
#: in its duration, or more often.
LEASES_PERIOD = 15.0
#: Seconds between two searches for secrets to encrypt with a new key. Keys change only with a start
#: of the service.
SECRETS_PERIOD = 86400.0


def declare_loops(context: OperatorContext, settings: OperatorSettings) -> list[LoopDeclaration]:
    """Return the declarations of the loops.

    Raises:
        ValueError: Apprise does not support an address for notifications.
    """
    leases = min(LEASES_PERIOD, context.client_lease / 4)
    reencrypt = partial(reencrypt_secrets, context)
    loops = [
        LoopDeclaration("secrets.reencrypt", SECRETS_PERIOD, reencrypt),
        LoopDeclaration("assets.delete", ASSETS_PERIOD, partial(delete_removed_assets, context)),
        LoopDeclaration("client_leases.end", leases, partial(end_client_leases, context)),
    ]
    if urls := [url.get_secret_value() for url in settings.notify]:
        notifier, public_url = AppriseNotifier(urls), settings.public_url
        notify = partial(notify_people, context, notifier, public_url=public_url)
        loops.append(LoopDeclaration("notify", settings.notify_period, notify))
    return loops
