"""Settings of the operator service, from ``SLUICE_OPERATOR_…`` in the environment."""

import secrets

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import SettingsConfigDict

from sluice.contracts.people import TOKEN_PREFIX
from sluice.servicekit.sealing import SealingSettings
from wfms.operator.usecases.oidc_settings import OidcSettings

_FOR_THIS_PROCESS = secrets.token_urlsafe(48)
#: Characters of the system's own token: nobody guesses 32.
_SHORTEST = 32


class OperatorSettings(SealingSettings):
    model_config = SettingsConfigDict(env_prefix="SLUICE_OPERATOR_")

    #: Signs session cookies and forms. None: a new one at each start, so that forms opened before
    #: are refused once; several instances behind one address need the same.
    secret_key: SecretStr | None = None
    #: Threads that answer web requests.
    threads: int = Field(default=8, ge=1, le=64)
    #: Seconds until a request that waits for another service or for the database is answered 503.
    patience: float = Field(default=60.0, gt=0)
    #: Most bytes of a job's log that are shown, half of its beginning, half of its end.
    log_preview: int = Field(default=256 * 1024, ge=1024)
    #: Most bytes of a file that its page shows.
    file_preview: int = Field(default=64 * 1024, ge=1024)
    #: Seconds without a word after which a client that waits (`sluice run`, `sluice cwl-runner`) is
    #: taken for dead: its chain is canceled, and what it brought in is deleted.
    client_lease: float = Field(default=900.0, gt=0)
    #: Whether cookies are only sent over HTTPS; set it where the service stands behind TLS.
    secure_cookies: bool = False
    #: Under which browsers know the page, where a proxy stands in front: `https://sluice.example.org`.
    #: Empty: as they ask for it.
    public_url: str = ""
    #: An OpenID provider that knows people, beside accounts with passwords.
    oidc: OidcSettings = Field(default_factory=OidcSettings)
    #: Where people have accounts: the token of the system itself, an administrator who needs none,
    #: and makes the first; it begins with `sluice_`. None: there is none.
    admin_token: SecretStr | None = None
    #: Name of the input storage that assets (models, configurations) are put on; empty: on the one
    #: with the most room.
    asset_storage: str = ""

    #: Addresses that are told what needs a person: data sets for which no task can be defined,
    #: chains that failed, work that does not go on. A JSON list of URLs as Apprise writes them:
    #: `["mailto://user:password@example.org?to=shift@example.org", "jsons://example.org/hook"]`.
    notify: list[SecretStr] = Field(default_factory=list)
    #: Seconds between two looks for what people are to be told.
    notify_period: float = Field(default=30.0, gt=0)

    @field_validator("admin_token")
    @classmethod
    def _is_long(cls, token: SecretStr | None) -> SecretStr | None:
        text = "" if token is None else token.get_secret_value()
        if token is not None and not (text.startswith(TOKEN_PREFIX) and len(text) >= _SHORTEST):
            raise ValueError(
                f"must begin with {TOKEN_PREFIX} and have {_SHORTEST} characters or more:"
                f" `echo {TOKEN_PREFIX}$(openssl rand -hex 24)` makes one"
            )
        return token


def secret_key(settings: OperatorSettings) -> str:
    """One for this process where none was given."""
    return (
        _FOR_THIS_PROCESS if settings.secret_key is None else settings.secret_key.get_secret_value()
    )
