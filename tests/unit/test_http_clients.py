"""HTTP clients: proxies, trusted certificates, and destinations of tokens."""

import asyncio
import contextlib
import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from sluice.clients.wms import WmsClient
from sluice.contracts.common.problems import NotAvailable, ServiceError
from sluice.cwl_runner.rest import RestConnection
from sluice.network import http_clients
from sluice.network.http_clients import http_client, send_request, trusted_authorities
from sluice.network.proxies import UnusableProxy, proxy_for
from tests.servers.certificates import CertificateAuthority
from tests.servers.recorded_requests import Proxy, run_recording_proxy, run_recording_server

TOKEN = {"Authorization": "Bearer secret-token"}
PROXIED_HOST = "sluice.example"


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    with run_recording_proxy() as proxy:
        for name, value in proxy.variables.items():
            monkeypatch.setenv(name, value)
        yield proxy


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080", "https://sluice.example"])
def test_certificates_and_host_names_are_checked(url: str) -> None:
    context = trusted_authorities(url)
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


def test_https_trusts_the_public_authorities_and_http_trusts_none() -> None:
    authority_counts = trusted_authorities("https://sluice.example").cert_store_stats()
    assert authority_counts == httpx.create_ssl_context().cert_store_stats()
    assert authority_counts["x509_ca"] > 0
    assert trusted_authorities("http://127.0.0.1:8080").cert_store_stats()["x509_ca"] == 0


def test_certificates_are_read_once() -> None:
    assert trusted_authorities("https://one.example") is trusted_authorities("https://two.example")


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.8.9.1", "localhost", "LOCALHOST.", "a.localhost", "[::1]"]
)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_loopback_addresses_never_use_a_proxy(proxy: Proxy, scheme: str, host: str) -> None:
    assert proxy_for(f"{scheme}://{host}:8080/api") is None


def test_https_uses_the_proxy_of_the_environment_and_http_does_not(proxy: Proxy) -> None:
    assert proxy_for(f"https://{PROXIED_HOST}") == proxy.url
    assert proxy_for(f"http://{PROXIED_HOST}") is None


def test_hosts_in_no_proxy_use_no_proxy(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", f"other.example, .example:443,{PROXIED_HOST}")
    assert proxy_for(f"https://{PROXIED_HOST}:8443") is None
    assert proxy_for("https://elsewhere.test") == proxy.url


def test_clients_send_tokens_of_a_loopback_system_without_the_proxy(proxy: Proxy) -> None:
    with run_recording_server() as server:
        url = f"http://127.0.0.1:{server.port}"
        assert asyncio.run(_get_api(url)).is_success
        assert send_request("GET", url, headers=TOKEN).is_success
        assert _get_rest_answer(url) == {}
    assert server.tokens == [TOKEN["Authorization"]] * 2
    assert len(server.requests) == 3
    assert proxy.heads == []


def test_command_sends_the_token_of_a_loopback_system_without_the_proxy() -> None:
    with run_recording_server() as server, run_recording_proxy() as proxy:
        done = subprocess.run(
            [*_SLUICE, "chain", "list", "--url", f"http://localhost:{server.port}"],
            env={**os.environ, **proxy.variables, "SLUICE_TOKEN": "secret-token"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert server.tokens == ["Bearer secret-token"], done.stderr
    assert proxy.heads == []


def test_token_reaches_a_remote_host_encrypted_through_the_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = CertificateAuthority(tmp_path)
    signed = authority.sign(PROXIED_HOST)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(signed.certificate, signed.key)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    monkeypatch.setattr(http_clients, "_public_authorities", httpx.create_ssl_context)
    with run_recording_server(context=context) as server, run_recording_proxy(server.port) as proxy:
        monkeypatch.setenv("https_proxy", proxy.url)
        monkeypatch.setenv("SLUICE_TOKEN", "secret-token")
        assert asyncio.run(_get_api(f"https://{PROXIED_HOST}")).is_success
        assert _get_rest_answer(f"https://{PROXIED_HOST}") == {}
    assert server.tokens == ["Bearer secret-token"] * 2
    assert [head.split()[:2] for head in proxy.heads] == [
        [b"CONNECT", f"{PROXIED_HOST}:443".encode()]
    ] * 2
    assert proxy.passed
    assert b"secret-token" not in proxy.passed + b"".join(proxy.heads)


def test_failed_plain_http_request_says_that_it_bypasses_the_proxy(proxy: Proxy) -> None:
    url = "http://sluice.invalid"

    async def ask() -> None:
        async with http_client(url, headers=TOKEN) as http:
            await WmsClient(http).call("GET", "/pilots", retry=False)

    message = "plain HTTP does not go through the proxy"
    with pytest.raises(NotAvailable, match=message):
        asyncio.run(ask())
    with pytest.raises(OSError, match=message):
        _get_rest_answer(url)
    assert proxy.heads == []


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_token_does_not_follow_a_redirect_to_another_host(host: str) -> None:
    with (
        run_recording_server() as other,
        run_recording_server(redirect=f"http://{host}:{other.port}/elsewhere") as server,
    ):
        url = f"http://127.0.0.1:{server.port}"

        async def ask() -> None:
            async with http_client(url, headers=TOKEN) as http:
                await WmsClient(http).call("GET", "/pilots")

        with pytest.raises(ServiceError):
            asyncio.run(ask())
        followed = send_request("GET", url, headers=TOKEN, follow_redirects=True)
    assert followed.url.port == other.port
    assert len(other.requests) == 1, "the client of a service must not follow the redirect"
    assert other.tokens == []
    assert len(server.tokens) == 2


@pytest.mark.parametrize(
    ("address", "what"),
    [
        ("socks5://user:hidden@proxy.example:1080", "Python package socksio"),
        ("gopher://proxy.example", "not the address of an HTTP or SOCKS proxy"),
    ],
)
def test_unusable_proxy_is_reported_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch, address: str, what: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", address)
    with pytest.raises(UnusableProxy, match=what) as refusal:
        http_client("https://sluice.example")
    assert "no_proxy" in str(refusal.value)
    assert "hidden" not in str(refusal.value)


def test_command_reports_an_unusable_proxy_without_a_traceback() -> None:
    done = subprocess.run(
        [*_SLUICE, "chain", "list", "--url", "https://sluice.example"],
        env={**os.environ, "ALL_PROXY": "socks5://127.0.0.1:9", "SLUICE_TOKEN": "secret-token"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: the environment names the proxy socks5://127.0.0.1:9")
    assert "Traceback" not in done.stderr


def test_cwl_runner_names_a_proxy_that_it_cannot_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    with pytest.raises(UnusableProxy, match="HTTP proxies only"):
        RestConnection("https://sluice.example")


_SLUICE = [sys.executable, "-m", "sluice.cli"]


async def _get_api(url: str) -> httpx.Response:
    async with http_client(url, headers=TOKEN) as http:
        return await http.get("/api")


def _get_rest_answer(url: str) -> object:
    with contextlib.closing(RestConnection(url)) as rest:
        return rest.get("/chains")
