"""Settings that all services share. Each service adds its own class in its ``settings.py``; values come from the environment."""

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from sluice.contracts.base import Contract


class Addresses(Contract):
    """Base URLs of the services."""

    #: The DMS.
    dms: str = "http://127.0.0.1:8081"
    #: The WMS.
    wms: str = "http://127.0.0.1:8082"
    #: The chain service.
    chains: str = "http://127.0.0.1:8083"
    #: The task watcher.
    watcher: str = "http://127.0.0.1:8084"
    #: The intake.
    intake: str = "http://127.0.0.1:8085"
    #: The operator service.
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
    #: Where messages go: ``amqp://…`` (RabbitMQ) or ``postgresql://…``.
    broker_url: str
    #: Address that it listens on.
    host: str = "127.0.0.1"
    #: Port that it listens on; 0: any free one.
    port: int = 8080
    #: DEBUG, INFO, WARNING or ERROR.
    log_level: str = "INFO"
    #: Where it finds the other services.
    addresses: Addresses = Field(default_factory=Addresses)
