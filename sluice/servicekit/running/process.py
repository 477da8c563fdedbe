"""A service as a process.

HTTP starts first. Everything else starts as soon as the database and the broker are available. The
process ends at SIGTERM.
"""

import asyncio
import os
import sys
import threading
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import structlog
import uvloop
from starlette.types import ASGIApp

from sluice.process.garbage_collection import disable_garbage_collection, freeze_loaded_objects
from sluice.servicekit.access.authentication import Authenticator
from sluice.servicekit.access.authentication_setup import (
    open_to_anybody,
    protect_with_accounts,
    protect_with_remote_accounts,
    protect_without_accounts,
)
from sluice.servicekit.access.principal import ScraperCaller
from sluice.servicekit.access.service_keys import InvalidKeys, ServiceKeys
from sluice.servicekit.access.service_tokens import ServiceSigner, ServiceTokens
from sluice.servicekit.access.tokens import FixedTokens
from sluice.servicekit.database import Database
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.migrate import Migrator, SchemaTooOld
from sluice.servicekit.running.lifecycle import Component, stop_all
from sluice.servicekit.running.logging import configure_logging
from sluice.servicekit.running.service import Build, Service
from sluice.servicekit.running.service_clients import NetworkLinks
from sluice.servicekit.running.service_modules import build_function, settings_class
from sluice.servicekit.running.signals import StopRequest
from sluice.servicekit.running.startup import start_when_possible
from sluice.servicekit.settings import ServiceSettings, env_prefix
from sluice.servicekit.settings_sources import InvalidSettings, load_settings, unknown_variables
from sluice.servicekit.transport.base import Transport
from sluice.servicekit.transport.open import UnknownTransport, open_transport
from sluice.servicekit.web.server import HttpServer
from sluice.servicekit.web.startup_gate import Gate
from sluice.text.os_errors import os_error_sentence

log = structlog.get_logger(__name__)

#: Seconds for all components to stop. Unfinished work is repeated later, as after a crash.
STOP_LIMIT = 15.0
#: Seconds that threads may take to end after everything has stopped. A thread that hangs on a
#: storage never ends.
THREADS_LIMIT = 2.0

#: The service that keeps the accounts of people.
PEOPLE_SERVICE = "wfms.operator"

_KEYS_FIRST = (
    "if people have accounts, services need keys to authenticate each other: set SERVICE_KEYS, too"
    " (`sluice setup service-keys` makes them)"
)


def run_service(name: str) -> None:
    """Run a service until SIGTERM or SIGINT, then end the process.

    The exit status is 0 after a signal, 1 if the service could not start or stop, and 2 for wrong
    settings. The import of the service takes a second, in which signals already work.
    """
    stop = StopRequest()
    disable_garbage_collection()
    owner, build = settings_class(name), build_function(name)
    freeze_loaded_objects()  # not later: the service may wait for its database for days
    keys: ServiceKeys | None = None
    try:
        settings = load_settings(owner)
        if settings.service_keys is not None:
            keys = ServiceKeys(settings.service_keys, name)
        elif settings.accounts:
            raise InvalidSettings([f"{env_prefix(name)}ACCOUNTS: {_KEYS_FIRST}"])
        transport = open_transport(
            settings.broker_url, sluice_topology(), declare=settings.declare_queues
        )
    except InvalidSettings as error:
        sys.exit(_print_errors(error.sentences))
    except UnknownTransport as error:
        sys.exit(_print_errors([f"{env_prefix(name)}BROKER_URL: {error}"]))
    except InvalidKeys as error:
        sys.exit(_print_errors([f"{env_prefix(name)}SERVICE_KEYS: {error}"]))
    configure_logging(name, level=settings.log_level)
    if unknown := unknown_variables(owner):
        log.warning("settings.unknown", variables=unknown)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        code = runner.run(_Process(name, settings, build, transport, keys=keys).run(stop))
        _end_despite_threads(code)
    sys.exit(code)


class _Process:
    def __init__(
        self,
        name: str,
        settings: ServiceSettings,
        build: Build[Any],
        transport: Transport,
        *,
        keys: ServiceKeys | None,
    ) -> None:
        self._name = name
        self._settings = settings
        self._build = build
        self._transport = transport
        self._keys = keys
        self._gate = Gate(name)
        host_name = urlsplit(settings.addresses.by_service().get(name, "")).hostname or ""
        self._server = HttpServer(
            self._gate,
            host=settings.host,
            port=settings.port,
            limits=settings.limits(settings=env_prefix(name), name=host_name),
            connections=settings.connections,
        )
        self._service: Service | None = None
        self._started: list[Component] = []

    async def run(self, stop: StopRequest) -> int:
        """Run until a stop is requested and return the exit status."""
        stop.listen()
        try:
            await self._server.start()
        except OSError as error:
            log.error("service.cannot_listen", reason=os_error_sentence(error))
            return 1
        log.info("service.listening", host=self._settings.host, port=self._server.port)
        starting = asyncio.create_task(self._start(), name=f"start of {self._name}")
        stopping = asyncio.create_task(stop.wait(), name="wait for a signal")
        await asyncio.wait([starting, stopping], return_when=asyncio.FIRST_COMPLETED)
        failed = starting.done() and starting.exception() is not None
        if failed:
            _log_failed_start(starting.exception())
            stopping.cancel()
        else:
            log.info("service.stopping", signal=await stopping)
            starting.cancel()
        await asyncio.gather(starting, stopping, return_exceptions=True)
        return 0 if await self._stop() and not failed else 1

    async def _start(self) -> None:
        signer = None if self._keys is None else ServiceSigner(self._keys)
        links = NetworkLinks(self._settings.addresses.by_service(), signer)
        self._service = service = self._build(
            self._settings, links=links, transport=self._transport
        )
        self._server.refusals.count_in(service.metrics)
        components: list[Component] = [links, self._transport, *service.components]
        for component in components:
            self._started.append(component)
            what = self._need(component)
            self._gate.tell(what, "is starting")
            await start_when_possible(component, what=what, tell=self._gate.tell)
        freeze_loaded_objects()
        self._gate.open(self._guarded(service, links))
        log.info("service.ready", port=self._server.port)

    def _guarded(self, service: Service, links: NetworkLinks) -> ASGIApp:
        """Return the application of the service behind authentication."""
        if self._keys is None:
            return open_to_anybody(service.app)
        # Pilots send most requests, and their tokens are the fastest to check.
        authenticators: list[Authenticator] = (
            [] if service.authenticator is None else [service.authenticator]
        )
        authenticators.append(ServiceTokens(self._keys))
        if (token := self._settings.metrics_token) is not None:
            authenticators.append(FixedTokens({token.get_secret_value(): ScraperCaller()}))
        if not self._settings.accounts:
            return protect_without_accounts(
                service.app, authenticators, for_people=service.for_people
            )
        if service.account_authentication is None:
            return protect_with_remote_accounts(
                service.app,
                authenticators,
                links.http(PEOPLE_SERVICE),
                limit=self._settings.requests_a_minute,
            )
        return protect_with_accounts(service.app, authenticators, service.account_authentication)

    async def _stop(self) -> bool:
        """Stop everything, and return False if it takes too long."""
        if self._service is not None and self._service.end_waiting is not None:
            self._service.end_waiting()
        await self._server.stop()
        try:
            async with asyncio.timeout(STOP_LIMIT):
                await stop_all(self._started)
        except TimeoutError:
            log.error("service.stop_took_too_long", seconds=STOP_LIMIT)
            return False
        log.info("service.stopped")
        return True

    def _need(self, component: Component) -> str:
        """Return the name of what a component waits for, as ``/readyz`` shows it."""
        if component is self._transport:
            return "transport"
        return (
            "database" if isinstance(component, Database | Migrator) else type(component).__name__
        )


def _log_failed_start(error: BaseException | None) -> None:
    if isinstance(error, SchemaTooOld):
        log.error("service.cannot_start", reason=str(error))
    else:
        log.error("service.cannot_start", exc_info=error)


def _print_errors(sentences: Sequence[str]) -> int:
    for sentence in sentences:
        sys.stderr.write(f"error: {sentence}\n")
    return 2


def _end_despite_threads(code: int) -> None:
    """End the process if threads do not end; the interpreter would wait for them forever."""

    def end() -> None:
        log.warning(
            "service.threads_left", threads=[thread.name for thread in threading.enumerate()]
        )
        sys.stderr.flush()
        os._exit(code)

    timer = threading.Timer(THREADS_LIMIT, end)
    timer.daemon = True
    timer.start()
