"""The settings of an OpenID provider, part of the settings of the operator service."""

from pydantic import Field, SecretStr

from sluice.contracts.access.access import Role
from sluice.contracts.access.owners import GroupName
from sluice.contracts.common.base import Contract


class OidcSettings(Contract):
    """The variables ``SLUICE_OPERATOR_OIDC__…``."""

    #: The issuer URL of the provider: `https://login.example.org/realms/lab`. Empty: no provider.
    issuer: str = ""
    #: The client id of this system at the provider.
    client_id: str = "sluice"
    #: None for a public client, which has no secret.
    client_secret: SecretStr | None = None
    #: The requested scopes. Some providers send groups only with another scope.
    scope: str = "openid profile"
    #: Role by group, as JSON: `{"shift-crew": "shift", "*": "viewer"}`. `*` is everybody whom the
    #: provider knows. People without a matching group cannot sign in.
    roles: dict[str, Role] = Field(default_factory=dict)
    #: Group of this system by group of the provider, as JSON: `{"ocr-readers": "ocr"}`. If it is
    #: empty, administrators assign people to groups.
    groups: dict[str, GroupName] = Field(default_factory=dict)
    #: The claim of the ID token that has the name of the person.
    name_claim: str = "preferred_username"
    #: The claim that has the groups of the person.
    groups_claim: str = "groups"
    #: The name of the provider on the button "Sign in with …".
    label: str = "your account"
