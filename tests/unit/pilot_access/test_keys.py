"""Tests of the keys by which a WMS recognizes a pilot that registers again."""

import stat
from collections.abc import Callable
from email.utils import formatdate
from pathlib import Path
from typing import Any

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import OctKey, OKPKey

from sluice.contracts.access.access import PILOT_PROOF, PILOT_PROOF_HEADER
from sluice.contracts.common.problems import Unauthenticated
from sluice.pilot_access.auth import PilotAuth
from sluice.pilot_access.key import PilotKey
from sluice.servicekit.access.pilot_keys import FRESH, proven_key

NOW, DAY = 1_790_000_000.0, 86_400.0
KEY = OKPKey.generate_key("Ed25519")


def test_stored_key_proves_the_same_identity_again(tmp_path: Path) -> None:
    stored_key = PilotKey.load_or_create(tmp_path / "key")
    again = PilotKey.load_or_create(tmp_path / "key")
    other = PilotKey.load_or_create(tmp_path / "other")

    assert proven_key(stored_key.proof(NOW), NOW) == proven_key(again.proof(NOW), NOW)
    assert proven_key(other.proof(NOW), NOW) != proven_key(stored_key.proof(NOW), NOW)
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600


INVALID_KEYS = {
    "nothing": b"",
    "text": b"no key",
    "a key's beginning": b"-----BEGIN PRIVATE KEY-----\n",
    "bytes": b"\xff\x00",
    "a public key": KEY.as_pem(private=False),
    "another curve's": OKPKey.generate_key("X25519").as_pem(private=True),
}


@pytest.mark.parametrize("rubbish", INVALID_KEYS)
def test_invalid_key_file_is_replaced(tmp_path: Path, rubbish: str) -> None:
    """The pilot goes on, and is a new pilot for the WMS."""
    (tmp_path / "key").write_bytes(INVALID_KEYS[rubbish])
    pilot_key = PilotKey.load_or_create(tmp_path / "key")

    assert proven_key(PilotKey.load_or_create(tmp_path / "key").proof(NOW), NOW) == proven_key(
        pilot_key.proof(NOW), NOW
    )


@pytest.mark.parametrize("late", [FRESH + 1, -FRESH - 1, DAY, -DAY])
def test_proof_is_valid_for_a_minute(late: float) -> None:
    proof = PilotKey(KEY).proof(NOW)

    assert proven_key(proof, NOW + FRESH) == KEY.thumbprint()
    assert proven_key(proof, NOW - FRESH) == KEY.thumbprint()
    with pytest.raises(Unauthenticated, match="create one with the time in the Date header"):
        proven_key(proof, NOW + late)


def _sign_token(key: Any = KEY, **header: Any) -> str:
    full_header = {
        "typ": PILOT_PROOF,
        "alg": "Ed25519",
        "jwk": KEY.as_dict(private=False),
        **header,
    }
    return jwt.encode(full_header, {"iat": int(NOW)}, key, algorithms=[full_header["alg"]])


def _make_unsigned_token() -> str:
    return _sign_token().rpartition(".")[0] + "."


FORGED: dict[str, Callable[[], str]] = {
    "nothing": lambda: "",
    "no token": lambda: "x.y.z",
    "not signed": _make_unsigned_token,
    "signed with another key": lambda: _sign_token(OKPKey.generate_key("Ed25519")),
    "of another kind": lambda: _sign_token(typ="JWT"),
    "signed with the public key as a password": lambda: _sign_token(
        OctKey.import_key(str(KEY.as_dict(private=False)["x"])), alg="HS256"
    ),
    "with the private key in it": lambda: _sign_token(jwk=KEY.as_dict(private=True)),
    "with another curve's key": lambda: _sign_token(
        jwk=OKPKey.generate_key("X25519").as_dict(private=False)
    ),
    "without a key": lambda: _sign_token(jwk={}),
    "without a time": lambda: jwt.encode(
        {"typ": PILOT_PROOF, "alg": "Ed25519", "jwk": KEY.as_dict(private=False)},
        {"iat": "now"},
        KEY,
        algorithms=["Ed25519"],
    ),
    "of a time that no clock has": lambda: jwt.encode(
        {"typ": PILOT_PROOF, "alg": "Ed25519", "jwk": KEY.as_dict(private=False)},
        {"iat": 10**400},
        KEY,
        algorithms=["Ed25519"],
    ),
    "of a key of small order": lambda: ".".join(
        [
            *(
                jwt.encode(
                    {
                        "typ": PILOT_PROOF,
                        "alg": "Ed25519",
                        "jwk": {"kty": "OKP", "crv": "Ed25519", "x": "A" * 43},
                    },
                    {"iat": int(NOW)},
                    KEY,
                    algorithms=["Ed25519"],
                ).split(".")[:2]
            ),
            "A" * 86,
        ]
    ),
    "very deep": lambda: "eyJ" + "x" * 10_000 + ".e30.x",
    "no text": lambda: "ä.ö.ü",
}


#: The complete list shows that no text of the JWT library is used.
FAULTS = {
    "it is malformed",
    "its signature is wrong",
    "it is of another kind",
    "it has the private key in it",
    "its key is one that everybody can sign with",
    "it has no time of creation (iat)",
}


@pytest.mark.parametrize("forged", FORGED)
def test_invalid_proof_is_refused(forged: str) -> None:
    with pytest.raises(Unauthenticated, match="the proof of the pilot's key is invalid") as refused:
        proven_key(FORGED[forged](), NOW)
    assert refused.value.detail.partition(": ")[2] in FAULTS


def test_proof_with_a_key_of_small_order_is_refused() -> None:
    """One in four messages has the signature of zeros."""
    with pytest.raises(Unauthenticated, match="its key is one that everybody can sign with"):
        proven_key(FORGED["of a key of small order"](), NOW)


async def test_pilot_with_a_wrong_clock_uses_the_time_of_the_wms(tmp_path: Path) -> None:
    keys: list[str] = []

    def wms(request: httpx.Request) -> httpx.Response:
        try:
            keys.append(proven_key(request.headers[PILOT_PROOF_HEADER], NOW))
        except Unauthenticated:
            return httpx.Response(401, headers={"date": formatdate(NOW, usegmt=True)})
        return httpx.Response(200)

    (tmp_path / "token").write_text("enrolment")
    auth = PilotAuth(tmp_path / "token", PilotKey(KEY), clock=lambda: NOW + DAY)
    transport = httpx.MockTransport(wms)
    async with httpx.AsyncClient(transport=transport, base_url="http://wms", auth=auth) as http:
        assert (await http.post("/api/v1/pilots")).status_code == 200
        assert (await http.post("/api/v1/pilots")).status_code == 200

    assert keys == [KEY.thumbprint()] * 2


@pytest.mark.parametrize("date", [{}, {"date": "yesterday"}])
async def test_registration_without_the_time_of_the_wms_is_tried_at_most_twice(
    tmp_path: Path, date: dict[str, str]
) -> None:
    requests: list[httpx.Request] = []

    def wms(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(401, headers=date)

    (tmp_path / "token").write_text("enrolment")
    transport = httpx.MockTransport(wms)
    auth = PilotAuth(tmp_path / "token")
    async with httpx.AsyncClient(transport=transport, base_url="http://wms", auth=auth) as http:
        assert (await http.post("/api/v1/pilots")).status_code == 401
    assert len(requests) == 2


async def test_only_registrations_send_the_proof_of_the_key(tmp_path: Path) -> None:
    shown: list[bool] = []

    def wms(request: httpx.Request) -> httpx.Response:
        shown.append(PILOT_PROOF_HEADER in request.headers)
        return httpx.Response(200)

    (tmp_path / "token").write_text("enrolment")
    transport = httpx.MockTransport(wms)
    auth = PilotAuth(tmp_path / "token")
    async with httpx.AsyncClient(transport=transport, base_url="http://wms", auth=auth) as http:
        for path in ("/api/v1/pilots", "/api/v1/pilots/u/lease", "/services/wms/api/v1/pilots"):
            await http.post(path)
    assert shown == [True, False, True]
