"""Settings of the operator service, from ``SLUICE_OPERATOR_…`` in the environment."""

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from sluice.servicekit.sealing import SealingSettings


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
    #: Whether cookies are only sent over HTTPS; set it where the service stands behind TLS.
    secure_cookies: bool = False
    #: Name of the input storage that assets (models, configurations) are put on; empty: on the one
    #: with the most room.
    asset_storage: str = ""
