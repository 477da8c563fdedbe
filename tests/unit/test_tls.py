"""Whom clients believe."""

import ssl

import httpx
import pytest

from sluice.tls import trust


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080", "https://sluice.example"])
def test_no_stranger_is_believed(url: str) -> None:
    context = trust(url)
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


def test_https_is_held_against_the_authorities_and_nothing_else_has_any() -> None:
    assert (
        trust("https://sluice.example").cert_store_stats()
        == httpx.create_ssl_context().cert_store_stats()
    )
    assert trust("https://sluice.example").cert_store_stats()["x509_ca"] > 0
    assert trust("http://127.0.0.1:8080").cert_store_stats()["x509_ca"] == 0


def test_certificates_are_read_once() -> None:
    assert trust("https://one.example") is trust("https://another.example")
