"""Settings of the operator service, from ``SLUICE_OPERATOR_…`` in the environment."""

import secrets

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import SettingsConfigDict

from sluice.contracts.access.people import TOKEN_PREFIX
from sluice.contracts.access.services import CallingService
from sluice.servicekit.sealing import SealingSettings
from wfms.operator.identity.usecases.oidc_settings import OidcSettings

_FOR_THIS_PROCESS = secrets.token_urlsafe(48)
#: Minimum length of the administrator's token: 32 characters cannot be guessed.
_MIN_TOKEN_LENGTH = 32


class OperatorSettings(SealingSettings):
    """The settings of the operator service."""

    model_config = SettingsConfigDict(env_prefix="SLUICE_OPERATOR_")

    port: int = CallingService.OPERATOR.port
    #: Signs session cookies and forms. Defaults to a new key at each start, which refuses forms
    #: that were opened before. Several instances behind one address need the same key.
    secret_key: SecretStr | None = None
    #: Threads that answer web requests.
    threads: int = Field(default=8, ge=1, le=64)
    #: Seconds until a request that waits for another service or the database is answered with 503.
    patience: float = Field(default=60.0, gt=0)
    #: Maximum bytes of a job's log that are shown: half from its beginning, half from its end.
    log_preview: int = Field(default=256 * 1024, ge=1024)
    #: Maximum bytes of a file that its page shows.
    file_preview: int = Field(default=64 * 1024, ge=1024)
    #: Seconds without a heartbeat after which a waiting client (`sluice run`, `sluice cwl-runner`)
    #: counts as dead. Its chain is then canceled, and the data that it sent is deleted.
    client_lease: float = Field(default=900.0, gt=0)
    #: Whether cookies are sent over HTTPS only. Set it where the service is behind TLS.
    secure_cookies: bool = False
    #: URL by which browsers reach the pages behind a proxy: `https://sluice.example.org`. Empty:
    #: the URL of the request.
    public_url: str = ""
    #: An OpenID provider for sign-in, beside accounts with passwords.
    oidc: OidcSettings = Field(default_factory=OidcSettings)
    #: Where people have accounts: a token of an administrator without an account, who creates the
    #: first account. It begins with `sluice_`. By default, there is no such token.
    admin_token: SecretStr | None = None
    #: Name of the input storage for assets (models, configurations). Empty: the storage with the
    #: most free space.
    asset_storage: str = ""

    #: Addresses that get notices which need a person: data sets without a task, failed chains, work
    #: that does not continue. A JSON list of URLs in Apprise's notation:
    #: `["mailto://user:password@example.org?to=shift@example.org", "jsons://example.org/hook"]`.
    notify: list[SecretStr] = Field(default_factory=list)
    #: Seconds between two searches for new notices.
    notify_people_period: float = Field(default=30.0, gt=0)

    @field_validator("admin_token")
    @classmethod
    def _is_long(cls, token: SecretStr | None) -> SecretStr | None:
        text = "" if token is None else token.get_secret_value()
        if token is not None and not (
            text.startswith(TOKEN_PREFIX) and len(text) >= _MIN_TOKEN_LENGTH
        ):
            raise ValueError(
                f"must begin with {TOKEN_PREFIX} and have {_MIN_TOKEN_LENGTH} characters or more:"
                f" `echo {TOKEN_PREFIX}$(openssl rand -hex 24)` makes one"
            )
        return token


def secret_key(settings: OperatorSettings) -> str:
    """Return the key in the settings or, if there is none, a key of this process."""
    return (
        _FOR_THIS_PROCESS if settings.secret_key is None else settings.secret_key.get_secret_value()
    )
