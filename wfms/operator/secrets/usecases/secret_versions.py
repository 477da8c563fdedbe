"""A secret with its versions, without their values."""

from collections.abc import Sequence

from sluice.contracts.access.secrets import Secret, SecretVersion
from wfms.operator.secrets.db.secrets import StoredSecret


def build_secret(versions: Sequence[StoredSecret]) -> Secret:
    """Return a secret from its versions, newest first."""
    return Secret(
        name=versions[0].name,
        versions=[
            SecretVersion(
                version=each.version,
                created_at=each.created_at,
                templates=each.templates,
                group=each.owner_group,
            )
            for each in versions
        ],
    )
