"""Services say who they are by what they sign."""

import base64
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sluice.contracts.access import CallingService
from sluice.contracts.problems import Unauthenticated
from sluice.servicekit.access.principal import ServiceCaller
from sluice.servicekit.access.service_keys import BadKeys, ServiceKeys
from sluice.servicekit.access.service_tokens import LIFE, SKEW, ServiceSigner, ServiceTokens
from sluice.setup.service_keys import forget_old_keys, make_keys, rotate_keys

DMS, WMS, CHAINS = (
    str(service) for service in (CallingService.DMS, CallingService.WMS, CallingService.CHAINS)
)
NOON = 1_800_000_000.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_keys(tmp_path)
    return tmp_path


def signer(folder: Path, service: str = DMS, now: float = NOON) -> ServiceSigner:
    return ServiceSigner(ServiceKeys(folder, service), lambda: now)


def tokens(folder: Path, service: str = WMS, now: float = NOON) -> ServiceTokens:
    return ServiceTokens(ServiceKeys(folder, service), lambda: now)


async def test_a_token_says_which_service_asks(folder: Path) -> None:
    for service in (DMS, CHAINS):
        token = signer(folder, service).token(WMS)
        found = await tokens(folder).principal(token)
        assert found == ServiceCaller(CallingService(service))


async def test_a_token_is_for_one_service_alone(folder: Path) -> None:
    token = signer(folder).token(WMS)
    with pytest.raises(Unauthenticated, match=r"another service than wfms\.chains"):
        await tokens(folder, CHAINS).principal(token)


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
async def test_a_token_holds_for_a_minute_and_what_clocks_may_differ(
    folder: Path, seconds: int, *, holds: bool
) -> None:
    token = signer(folder).token(WMS)
    late = tokens(folder, now=NOON + seconds)
    if holds:
        assert await late.principal(token) is not None
    else:
        with pytest.raises(Unauthenticated, match="clocks"):
            await late.principal(token)


async def test_a_token_that_held_once_does_not_hold_for_ever(folder: Path) -> None:
    now = NOON
    known = ServiceTokens(ServiceKeys(folder, WMS), lambda: now)
    token = signer(folder).token(WMS)
    assert await known.principal(token) is not None
    now = NOON + LIFE + SKEW + 1
    with pytest.raises(Unauthenticated):
        await known.principal(token)


def test_a_signer_uses_a_token_for_half_its_life_and_makes_one_after_a_clock_was_set_back(
    folder: Path,
) -> None:
    now = NOON
    made = ServiceSigner(ServiceKeys(folder, DMS), lambda: now)
    first = made.token(WMS)
    now = NOON + LIFE / 2 - 1
    assert made.token(WMS) == first
    assert made.token(CHAINS) != first
    now = NOON + LIFE / 2 + 1
    second = made.token(WMS)
    assert second != first
    now += 1
    made.forget(WMS)
    assert made.token(WMS) != second, "it was refused"
    now = NOON - 86_400
    assert made.token(WMS) not in {first, second}


def _parts(token: str) -> tuple[dict[str, object], dict[str, object], str]:
    head, claims, signature = token.split(".")
    return _read(head), _read(claims), signature


def _read(part: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return found


def _written(part: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")


def _as_another(token: str) -> str:
    head, claims, signature = _parts(token)
    return f"{_written(head)}.{_written(claims | {'iss': CHAINS})}.{signature}"


def _unsigned(token: str) -> str:
    head, claims, _ = _parts(token)
    return f"{_written(head | {'alg': 'none'})}.{_written(claims)}."


def _without_key(token: str) -> str:
    head, claims, signature = _parts(token)
    del head["kid"]
    return f"{_written(head)}.{_written(claims)}.{signature}"


@pytest.mark.parametrize(
    "spoilt",
    [
        _as_another,
        _unsigned,
        _without_key,
        lambda token: token[:-4] + "AAAA",
        lambda token: token.replace(".", ""),
        lambda token: "..",
        lambda token: "",
    ],
)
async def test_what_is_not_signed_so_is_nobody_s(
    folder: Path, spoilt: Callable[[str], str]
) -> None:
    token = signer(folder).token(WMS)
    assert await tokens(folder).principal(spoilt(token)) is None


async def test_a_service_cannot_sign_as_another_one(folder: Path) -> None:
    """With its own key and another's name: what a stolen key can be used for."""
    (folder / "chains.key").unlink()
    (folder / "dms.key").rename(folder / "chains.key")
    assert await tokens(folder).principal(signer(folder, CHAINS).token(WMS)) is None


async def test_keys_are_changed_without_a_stop(folder: Path) -> None:
    asks, knows = signer(folder), tokens(folder)
    before = asks.token(WMS)
    assert await knows.principal(before) is not None
    rotate_keys(folder)
    assert await tokens(folder).principal(before) is not None, "the old one is known"
    after = signer(folder).token(WMS)
    assert after.split(".")[0] != before.split(".")[0], "signed with another key"
    for token in (before, after):
        assert await knows.principal(token) is not None
    forget_old_keys(folder)
    fresh = tokens(folder)
    assert await fresh.principal(before) is None
    assert await fresh.principal(after) is not None
    assert asks.token(CHAINS).split(".")[0] == after.split(".")[0], "it has read its new key"
    assert forget_old_keys(folder) == make_keys(folder) == []


async def test_a_key_file_that_is_being_written_leaves_the_keys_of_before(folder: Path) -> None:
    asks, knows = signer(folder), tokens(folder)
    (folder / "dms.pub").write_text("-----BEGIN PUB")
    (folder / "dms.key").unlink()
    assert await knows.principal(asks.token(WMS)) is not None


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda folder: (folder / "dms.key").unlink(), "dms.key cannot be read"),
        (lambda folder: (folder / "dms.key").write_text("secret"), "dms.key holds no key"),
        (
            lambda folder: (folder / "dms.key").write_text(
                "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n"
            ),
            "something else than Ed25519 keys",
        ),
        (
            lambda folder: [public.unlink() for public in folder.glob("*.pub")],
            "there is no public key",
        ),
    ],
)
def test_a_service_that_cannot_say_who_it_is_does_not_start(
    folder: Path, spoil: Callable[[Path], object], sentence: str
) -> None:
    spoil(folder)
    with pytest.raises(BadKeys, match=sentence) as raised:
        ServiceKeys(folder, DMS)
    assert "sluice setup service-keys" in str(raised.value)


def test_private_keys_are_closed_to_others(folder: Path) -> None:
    assert {path.stat().st_mode & 0o777 for path in folder.glob("*.key")} == {0o600}
    rotate_keys(folder)
    assert {path.stat().st_mode & 0o777 for path in folder.glob("*.key")} == {0o600}
