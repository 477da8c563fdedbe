"""Services reach PostgreSQL and RabbitMQ on other machines over verified TLS."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from sluice.contracts.common.problems import NotAvailable
from sluice.servicekit.database import Database
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.transport.base import TransportUnavailable
from sluice.servicekit.transport.open import open_transport
from sluice.setup.logins import ServiceLogin
from stack.ports import free_ports
from stack.rabbitmq import SERVER
from tests.integration.servicekit.process import MODULE, ServiceProcess
from tests.integration.setup.broker_logins import prepare_logins_for_one_host
from tests.integration.setup.conftest import Logins
from tests.servers.certificates import Certificate, CertificateAuthority
from tests.servers.network_postgres import NetworkPostgres
from tests.servers.rabbitmq import MISSING, RabbitServer, start_local
from tests.servers.tls_proxy import TlsProxy

#: The configuration that the page on production shows.
RABBIT_TLS = """
listeners.ssl.1 = 127.0.0.1:{amqps}
management.ssl.ip = 127.0.0.1
management.ssl.port = {management}
ssl_options.certfile = {certificate}
ssl_options.keyfile = {key}
management.ssl.certfile = {certificate}
management.ssl.keyfile = {key}
"""


@dataclass(frozen=True, slots=True)
class Trust:
    """An authority and its certificate. ``stranger`` is the file of another authority."""

    authority: CertificateAuthority
    certificate: Certificate
    stranger: Path


@dataclass(frozen=True, slots=True)
class SecretBroker:
    server: RabbitServer
    amqps: int
    management: int


@pytest.fixture(scope="module")
def trust(tmp_path_factory: pytest.TempPathFactory) -> Trust:
    folder = tmp_path_factory.mktemp("certificates")
    authority = CertificateAuthority(folder)
    return Trust(
        authority, authority.sign("localhost"), CertificateAuthority(folder, "stranger").file
    )


@pytest.fixture(scope="module")
def broker(trust: Trust) -> Iterator[SecretBroker]:
    if not Path(SERVER).exists():
        pytest.fail(MISSING, pytrace=False)
    amqps, management = free_ports(2)
    configuration = RABBIT_TLS.format(
        amqps=amqps,
        management=management,
        certificate=trust.certificate.certificate,
        key=trust.certificate.key,
    )
    server = start_local(configuration)
    try:
        server.wait_until_ready()
        yield SecretBroker(server, amqps, management)
    finally:
        server.stop()


@pytest.fixture
async def proxy(trust: Trust, postgres: NetworkPostgres) -> AsyncIterator[TlsProxy]:
    proxy = TlsProxy(trust.certificate, postgres.port)
    await proxy.start()
    yield proxy
    await proxy.stop()


def make_database_url(
    plain: str, proxy: TlsProxy, authority: Path, *, host: str = "localhost"
) -> str:
    place = plain.replace(f"@127.0.0.1:{_get_port(plain)}", f"@{host}:{proxy.port}")
    return f"{place}?sslmode=verify-full&sslrootcert={authority}"


def _get_port(url: str) -> int:
    return httpx.URL(url).port or 0


def run_setup(*command: str, **environment: str) -> str:
    """Run the setup command as its container does, and return its exit status and output."""
    done = subprocess.run(
        [sys.executable, "-m", "sluice.cli", "setup", *command],
        env={"PATH": os.environ["PATH"], "HOME": "/nowhere"} | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return f"{done.returncode}: {done.stdout}{done.stderr}"


async def test_installation_is_set_up_and_runs_over_tls(
    broker: SecretBroker,
    proxy: TlsProxy,
    postgres: NetworkPostgres,
    trust: Trust,
    logins: Logins,
    tmp_path: Path,
) -> None:
    ca = trust.authority.file
    users = [
        ServiceLogin(one.service, one.user, f"secret-of-{one.service}", one.place, "")
        for one in prepare_logins_for_one_host(logins())
    ]
    settings: dict[str, str] = {}
    for one in users:
        name, login = one.service.removeprefix("wfms.").upper(), f"{one.user}:{one.password}"
        plain = f"postgresql://{login}@127.0.0.1:{postgres.port}/{one.user}"
        settings[f"SLUICE_{name}_DATABASE_URL"] = make_database_url(plain, proxy, ca)
        settings[f"SLUICE_{name}_BROKER_URL"] = (
            f"amqps://{login}@localhost:{broker.amqps}/{one.place}?cafile={ca}"
        )
    administrators = {
        "SLUICE_SETUP_ADMIN_URL": make_database_url(postgres.admin_url, proxy, ca),
        "SLUICE_SETUP_MANAGEMENT_URL": f"https://guest:guest@localhost:{broker.management}",
    }
    untrusted = await asyncio.to_thread(
        run_setup, "broker", "--wait", "0", **settings, **administrators
    )
    assert untrusted.startswith("1: ")
    assert "its certificate is not trusted" in untrusted
    # httpx reads the authority from this variable only.
    administrators["SSL_CERT_FILE"] = str(ca)
    for what in ("broker", "databases"):
        output = await asyncio.to_thread(run_setup, what, **settings, **administrators)
        assert output.startswith("0: "), output
    before = proxy.connections
    assert before > 0

    own = {name: value for name, value in settings.items() if name.startswith("SLUICE_WMS_")}
    own["SLUICE_DECLARE_QUEUES"] = "false"
    process = ServiceProcess([*MODULE, "wms"], tmp_path, own)
    try:
        await process.answers()
        await process.is_ready()
        assert proxy.connections > before
        assert await process.stop() == 0
    finally:
        await process.clean_up()


@pytest.mark.parametrize("reason", ["the authority", "the name", "none at all"])
async def test_database_with_a_wrong_certificate_is_not_available(
    proxy: TlsProxy, postgres: NetworkPostgres, trust: Trust, reason: str
) -> None:
    ca, host, port = trust.authority.file, "localhost", proxy.port
    match reason:
        case "the authority":
            ca = trust.stranger
        case "the name":
            host = "127.0.0.1"
        case _:
            port = postgres.port
    url = make_database_url(postgres.admin_url, proxy, ca, host=host).replace(
        f":{proxy.port}/", f":{port}/"
    )
    with pytest.raises(NotAvailable, match=r"its certificate is not trusted|rejected SSL upgrade"):
        await Database(url, source="wms").start()
    assert proxy.connections == 0


@pytest.mark.parametrize("reason", ["the authority", "the name", "none at all"])
async def test_broker_with_a_wrong_certificate_is_not_available(
    broker: SecretBroker, trust: Trust, reason: str
) -> None:
    vhost = "of-a-test"
    plain = broker.server.add_vhost(vhost)
    ca, host, port = trust.authority.file, "localhost", broker.amqps
    match reason:
        case "the authority":
            ca = trust.stranger
        case "the name":
            host = "127.0.0.1"
        case _:
            port = _get_port(plain)
    url = f"amqps://guest:guest@{host}:{port}/{vhost}?cafile={ca}"
    transport = open_transport(url, sluice_topology())
    with pytest.raises(TransportUnavailable, match=r"verify failed|WRONG_VERSION|SSL"):
        await transport.start()
    await transport.stop()
