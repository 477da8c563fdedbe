"""Tests of signed tokens by which services authenticate to each other."""

import base64
import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import structlog
from joserfc import jws, jwt
from joserfc.jwk import OKPKey

from sluice.contracts.access.services import CallingService
from sluice.contracts.common.problems import Unauthenticated
from sluice.servicekit.access.principal import ServiceCaller
from sluice.servicekit.access.service_keys import InvalidKeys, ServiceKeys
from sluice.servicekit.access.service_tokens import LIFE, SKEW, ServiceSigner, ServiceTokens
from sluice.setup.service_keys import forget_old_keys, make_keys, rotate_keys

DMS, WMS, CHAINS = (
    str(service) for service in (CallingService.DMS, CallingService.WMS, CallingService.CHAINS)
)
NOON = 1_800_000_000.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    keys = tmp_path / "keys"
    make_keys(keys)
    return keys


def make_signer(folder: Path, service: str = DMS, now: float = NOON) -> ServiceSigner:
    return ServiceSigner(ServiceKeys(folder, service), lambda: now)


async def is_refused(knows: ServiceTokens, token: str) -> bool:
    """Require that the token is refused as an invalid token of a service."""
    with pytest.raises(Unauthenticated):
        await knows.principal(token)
    return True


def make_tokens(folder: Path, service: str = WMS, now: float = NOON) -> ServiceTokens:
    return ServiceTokens(ServiceKeys(folder, service), lambda: now)


async def test_token_identifies_the_calling_service(folder: Path) -> None:
    for service in (DMS, CHAINS):
        token = make_signer(folder, service).token(WMS)
        principal = await make_tokens(folder).principal(token)
        assert principal == ServiceCaller(CallingService(service))


async def test_token_for_another_service_is_refused(folder: Path) -> None:
    token = make_signer(folder).token(WMS)
    with pytest.raises(Unauthenticated, match=r"another service than wfms\.chains"):
        await make_tokens(folder, CHAINS).principal(token)


@pytest.mark.parametrize(
    ("seconds", "holds"),
    [
        (0, True),
        (LIFE + SKEW - 1, True),
        (LIFE + SKEW + 1, False),
        (-SKEW + 1, True),
        (-SKEW - 1, False),
        (86_400, False),
        (-86_400, False),
    ],
)
async def test_token_is_valid_for_its_life_and_the_allowed_clock_skew(
    folder: Path, seconds: int, *, holds: bool
) -> None:
    token = make_signer(folder).token(WMS)
    late = make_tokens(folder, now=NOON + seconds)
    if holds:
        assert await late.principal(token) is not None
    else:
        with pytest.raises(Unauthenticated, match="clocks"):
            await late.principal(token)


async def test_token_that_was_accepted_once_expires(folder: Path) -> None:
    now = NOON
    service_tokens = ServiceTokens(ServiceKeys(folder, WMS), lambda: now)
    token = make_signer(folder).token(WMS)
    assert await service_tokens.principal(token) is not None
    now = NOON + LIFE + SKEW + 1
    with pytest.raises(Unauthenticated):
        await service_tokens.principal(token)


def test_signer_reuses_a_token_for_half_its_life_unless_the_clock_was_set_back(
    folder: Path,
) -> None:
    now = NOON
    service_signer = ServiceSigner(ServiceKeys(folder, DMS), lambda: now)
    first = service_signer.token(WMS)
    now = NOON + LIFE / 2 - 1
    assert service_signer.token(WMS) == first
    assert service_signer.token(CHAINS) != first
    now = NOON + LIFE / 2 + 1
    second = service_signer.token(WMS)
    assert second != first
    now += 1
    service_signer.forget(WMS)
    assert service_signer.token(WMS) != second, "the token was refused, so another one is made"
    now = NOON - 86_400
    assert service_signer.token(WMS) not in {first, second}


def _split_token(token: str) -> tuple[dict[str, object], dict[str, object], str]:
    head, claims, signature = token.split(".")
    return _read(head), _read(claims), signature


def _read(part: str) -> dict[str, object]:
    decoded_part: dict[str, object] = json.loads(
        base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    )
    return decoded_part


def _encode_part(part: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")


def _change_issuer(token: str) -> str:
    head, claims, signature = _split_token(token)
    return f"{_encode_part(head)}.{_encode_part(claims | {'iss': CHAINS})}.{signature}"


def _remove_signature(token: str) -> str:
    head, claims, _ = _split_token(token)
    return f"{_encode_part(head | {'alg': 'none'})}.{_encode_part(claims)}."


def _change_key(token: str) -> str:
    head, claims, signature = _split_token(token)
    return f"{_encode_part(head | {'kid': ['x']})}.{_encode_part(claims)}.{signature}"


def _remove_key(token: str) -> str:
    head, claims, signature = _split_token(token)
    del head["kid"]
    return f"{_encode_part(head)}.{_encode_part(claims)}.{signature}"


@pytest.mark.parametrize(
    "spoilt", [_change_issuer, _remove_key, _change_key, lambda token: token[:-4] + "AAAA"]
)
async def test_forged_service_token_is_refused(folder: Path, spoilt: Callable[[str], str]) -> None:
    assert await is_refused(make_tokens(folder), spoilt(make_signer(folder).token(WMS)))


@pytest.mark.parametrize(
    "spoilt",
    [
        _remove_signature,
        lambda token: token.replace(".", ""),
        lambda token: "..",
        lambda token: "",
        lambda token: "a.b.c",
        lambda token: "[]." * 3,
    ],
)
async def test_token_of_another_kind_has_no_principal(
    folder: Path, spoilt: Callable[[str], str]
) -> None:
    """Another kind of authentication may know it."""
    assert await make_tokens(folder).principal(spoilt(make_signer(folder).token(WMS))) is None


async def test_service_cannot_sign_as_another_service(folder: Path, tmp_path: Path) -> None:
    """A stolen key could be used with the name of another service."""
    mine = tmp_path / "mine"
    shutil.copytree(folder, mine)
    (mine / "chains.pub").unlink()
    (mine / "chains.key").write_bytes((mine / "dms.key").read_bytes())
    assert await is_refused(make_tokens(folder), make_signer(mine, CHAINS).token(WMS))


async def test_keys_can_be_rotated_while_services_run(folder: Path) -> None:
    asks, knows = make_signer(folder), make_tokens(folder)
    before = asks.token(WMS)
    assert await knows.principal(before) is not None
    rotate_keys(folder)
    assert await make_tokens(folder).principal(before) is not None, "the old key is still known"
    after = make_signer(folder).token(WMS)
    assert after.split(".")[0] != before.split(".")[0], "the token is signed with another key"
    for token in (before, after):
        assert await knows.principal(token) is not None
    forget_old_keys(folder)
    fresh = make_tokens(folder)
    assert await is_refused(fresh, before)
    assert await fresh.principal(after) is not None
    assert asks.token(CHAINS).split(".")[0] == after.split(".")[0], (
        "the running signer has read its new key"
    )
    assert forget_old_keys(folder) == make_keys(folder) == []


async def test_incomplete_key_file_leaves_the_previous_keys_in_use(folder: Path) -> None:
    asks, knows = make_signer(folder), make_tokens(folder)
    (folder / "dms.pub").write_text("-----BEGIN PUB")
    (folder / "dms.key").unlink()
    assert await knows.principal(asks.token(WMS)) is not None


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda folder: (folder / "dms.key").unlink(), "dms.key cannot be read"),
        (lambda folder: (folder / "dms.key").write_text("secret"), "dms.key contains no key"),
        (
            lambda folder: (folder / "dms.key").write_text(
                "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n"
            ),
            "something other than keys in PEM",
        ),
        (
            lambda folder: [public.unlink() for public in folder.glob("*.pub")],
            "there is no public key",
        ),
    ],
)
def test_service_without_a_valid_key_does_not_start(
    folder: Path, spoil: Callable[[Path], object], sentence: str
) -> None:
    spoil(folder)
    with pytest.raises(InvalidKeys, match=sentence) as raised:
        ServiceKeys(folder, DMS)
    assert "sluice setup service-keys" in str(raised.value)


def _copy(name: str, of: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes((folder / of).read_bytes())


def _write_key_of_another_curve(folder: Path) -> object:
    return (folder / "dms.key").write_bytes(OKPKey.generate_key("X25519").as_pem(private=True))


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (_copy("dms.key", of="wms.key"), "dms.key does not match dms.pub"),
        (_copy("dms.key", of="dms.pub"), "something other than private Ed25519 keys"),
        (_write_key_of_another_curve, "something other than private Ed25519 keys"),
        (_copy("chains.pub", of="wms.pub"), "wms.pub and chains.pub in .* contain the same key"),
        (_copy("chains.pub", of="wms.key"), "wms.pub and chains.pub in .* contain the same key"),
    ],
)
def test_mixed_up_keys_are_reported_at_the_start(
    folder: Path, spoil: Callable[[Path], object], sentence: str
) -> None:
    spoil(folder)
    with pytest.raises(InvalidKeys, match=sentence):
        ServiceKeys(folder, DMS)


async def test_invalid_key_file_that_appears_later_does_not_affect_other_keys(folder: Path) -> None:
    knows = make_tokens(folder)
    issued_tokens = [
        make_signer(folder, CHAINS, now).token(WMS) for now in (NOON, NOON - 1, NOON - 2)
    ]
    (folder / "setup.pub").write_text("-----BEGIN x")
    with structlog.testing.capture_logs() as log_lines:
        for token in issued_tokens:
            assert await knows.principal(token) is not None
    assert [line["event"] for line in log_lines] == ["keys.unreadable"], (
        "each change is logged once"
    )


async def test_token_with_a_too_long_life_is_refused(folder: Path) -> None:
    key = ServiceKeys(folder, DMS).own()
    for ends in (NOON + 10**9, NOON + LIFE + SKEW + 1):
        claims = {"iss": DMS, "aud": WMS, "iat": 0, "exp": int(ends)}
        header = {"alg": "Ed25519", "kid": key.thumbprint()}
        token = jwt.encode(header, claims, key, algorithms=["Ed25519"])
        with pytest.raises(Unauthenticated, match=f"longer than {LIFE} s"):
            await make_tokens(folder).principal(token)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"exp": NOON - LIFE}, "it has expired; compare the clocks of the two machines"),
        ({"iat": NOON + 10**6}, "its times are wrong; compare the clocks of the two machines"),
        ({"aud": str(DMS)}, f"it is for another service than {WMS}"),
        ({"exp": None}, "it lacks exp"),
    ],
)
async def test_refusal_of_a_token_says_what_is_wrong(
    folder: Path, changed: dict[str, object], reason: str
) -> None:
    key = ServiceKeys(folder, DMS).own()
    claims = {"iss": DMS, "aud": WMS, "iat": NOON, "exp": NOON + LIFE} | changed
    header = {"alg": "Ed25519", "kid": key.thumbprint()}
    token = jwt.encode(header, claims, key, algorithms=["Ed25519"])
    with pytest.raises(Unauthenticated) as raised:
        await make_tokens(folder).principal(token)
    assert raised.value.detail == f"the token of the service {DMS} is not valid here: {reason}"


async def test_signed_token_with_unreadable_claims_is_refused(folder: Path) -> None:
    key = ServiceKeys(folder, DMS).own()
    header = {"alg": "Ed25519", "kid": key.thumbprint()}
    for claims in (b"[" * 5_000, b"[]", b"no json", b"\xff"):
        token = jws.serialize_compact(header, claims, key, algorithms=["Ed25519"])
        assert await is_refused(make_tokens(folder), token)


def test_concurrent_key_generation_makes_each_key_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as threads:
        key_lists = list(threads.map(make_keys, [tmp_path] * 4))
    assert sorted(map(len, key_lists)) == [0, 0, 0, 7]
    for service in (DMS, WMS, CHAINS):
        ServiceKeys(tmp_path, service)


def test_missing_and_wrong_public_keys_are_written_again(folder: Path) -> None:
    (folder / "dms.pub").unlink()
    (folder / "wms.pub").write_bytes(OKPKey.generate_key("Ed25519").as_pem(private=False))
    assert make_keys(folder) == ["wrote the public key of dms", "wrote the public key of wms"]
    assert make_keys(folder) == []
    keys = ServiceKeys(folder, DMS)
    assert keys.public_keys()[keys.own().thumbprint()][0] == DMS


def test_unreadable_key_prevents_changes_of_all_keys(folder: Path) -> None:
    (folder / "wms.key").write_text("garbage")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for change in (rotate_keys, make_keys):
        with pytest.raises(InvalidKeys, match=r"wms\.key contains no key"):
            change(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_last_of_several_private_keys_signs_and_stays_known(folder: Path) -> None:
    first = (folder / "dms.key").read_bytes()
    rotate_keys(folder)
    (folder / "dms.key").write_bytes(first + (folder / "dms.key").read_bytes())
    assert "forgot old keys of dms" in forget_old_keys(folder)
    keys = ServiceKeys(folder, DMS)
    assert keys.public_keys()[keys.own().thumbprint()][0] == DMS


def test_private_key_files_have_mode_0600(folder: Path) -> None:
    assert {path.stat().st_mode & 0o777 for path in folder.glob("*.key")} == {0o600}
    rotate_keys(folder)
    assert {path.stat().st_mode & 0o777 for path in folder.glob("*.key")} == {0o600}
