"""Settings that all services share. Each service adds its own class in its ``settings.py``; values come from the environment."""

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from sluice.contracts.base import Contract


class Addresses(Contract):
    """Base URLs of the services."""

    dms: str = "http://127.0.0.1:8081"
    wms: str = "http://127.0.0.1:8082"
    chains: str = "http://127.0.0.1:8083"
    watcher: str = "http://127.0.0.1:8084"
    intake: str = "http://127.0.0.1:8085"
    operator: str = "http://127.0.0.1:8080"

    def by_service(self) -> dict[str, str]:
        return {
            "dms": self.dms,
            "wms": self.wms,
            "wfms.chains": self.chains,
            "wfms.watcher": self.watcher,
            "wfms.intake": self.intake,
            "wfms.operator": self.operator,
        }


class ServiceSettings(BaseSettings):
    """``SLUICE_<SERVICE>_…`` in the environment; nested names are joined by two underscores (``SLUICE_DMS_ADDRESSES__WMS``)."""

    model_config = SettingsConfigDict(env_nested_delimiter="__", extra="ignore", frozen=True)

    #: PostgreSQL database of this service alone.
    database_url: str
    #: ``amqp://…`` (RabbitMQ) or ``postgresql://…``.
    broker_url: str
    host: str = "127.0.0.1"
    port: int = 8080
    log_level: str = "INFO"
    addresses: Addresses = Field(default_factory=Addresses)
