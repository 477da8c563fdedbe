"""How an OpenID provider is known: part of the settings of the operator service."""

from pydantic import Field, SecretStr

from sluice.contracts.access import Role
from sluice.contracts.base import Contract
from sluice.contracts.owners import GroupName


class OidcSettings(Contract):
    """``SLUICE_OPERATOR_OIDC__…``."""

    #: The provider's address, as it calls itself: `https://login.example.org/realms/lab`. Empty:
    #: there is none.
    issuer: str = ""
    #: How the provider calls this system.
    client_id: str = "sluice"
    #: None: a public client, which has none.
    client_secret: SecretStr | None = None
    #: What is asked for: more, where the groups are told only then.
    scope: str = "openid profile"
    #: Role by group, as JSON: `{"shift-crew": "shift", "*": "viewer"}`; `*` is everybody whom the
    #: provider knows. Whoever is in none is not let in.
    roles: dict[str, Role] = Field(default_factory=dict)
    #: Group of this system by group of the provider, as JSON: `{"ocr-readers": "ocr"}`. Empty:
    #: administrators say who is in which group.
    groups: dict[str, GroupName] = Field(default_factory=dict)
    #: Claim of the ID token with a person's name.
    name_claim: str = "preferred_username"
    #: Claim with the groups that he is in.
    groups_claim: str = "groups"
    #: How people call it: the button says "Sign in with …".
    label: str = "your account"
