"""Secrets of tools are encrypted and versioned, and only holders of the key get their values."""

import json
from typing import Any

import asyncpg
import pytest
from cryptography.fernet import Fernet
from pydantic import SecretStr

from sluice.contracts.access.secrets import (
    MAX_SECRET,
    NewSecret,
    Sealed,
    SecretRef,
    SecretsRequest,
    SecretValues,
)
from sluice.contracts.common.problems import Conflict, NotFound, Unprocessable
from sluice.contracts.templates.templates import NewTemplate
from sluice.servicekit.sealing import ANSWER, REQUEST, Sealer
from tests.integration.operator.conftest import Operator, run_operator
from tests.unit.cwl.plans.secret_template import TEMPLATE

VALUE = "hunter2-hunter2"
OLD, NEW = (Fernet.generate_key().decode() for _ in range(2))


def make_secret(name: str, value: str, *templates: str) -> NewSecret:
    return NewSecret(name=name, value=SecretStr(value), templates=list(templates) or None)


async def open_secret(operator: Operator, key: str, ref: SecretRef, template: str) -> str:
    """Return the value that a job of the template gets."""
    box = Sealer(SecretStr(key))
    request = SecretsRequest(template=template, secrets={"token": ref}).model_dump_json()
    sealed = Sealed(text=box.seal(request, what=REQUEST).decode())
    answer = await operator.client.open_secrets(sealed)
    assert VALUE not in answer.text
    opened = SecretValues.model_validate_json(box.open(answer.text.encode(), what=ANSWER))
    return opened.values["token"].get_secret_value()


async def read_rows(operator: Operator) -> list[dict[str, Any]]:
    connection = await asyncpg.connect(operator.database_url)
    try:
        return [dict(row) for row in await connection.fetch("SELECT * FROM secrets ORDER BY 1, 2")]
    finally:
        await connection.close()


async def test_versions_of_a_secret_are_kept_until_removed(database_url: str) -> None:
    async with run_operator(database_url, encryption_keys=OLD) as operator:
        first = await operator.client.set_secret(
            make_secret("places-api", "one", "places*", "cities")
        )
        assert [(entry.version, entry.templates) for entry in first.versions] == [
            (1, ["places*", "cities"])
        ]
        await operator.client.set_secret(make_secret("places-api", "two"))
        third = await operator.client.set_secret(make_secret("places-api", "three", "all-*"))
        assert [(entry.version, entry.templates) for entry in third.versions] == [
            (3, ["all-*"]),
            (2, ["places*", "cities"]),
            (1, ["places*", "cities"]),
        ], "the templates stay unless a request changes them"
        await operator.client.remove_secret("places-api", version=3)
        assert (await operator.client.get_secret("places-api")).newest.version == 2
        fourth = await operator.client.set_secret(make_secret("places-api", "four"))
        assert fourth.newest.version == 4, "a version number is not used again"
        for version, value in ((1, "one"), (2, "two"), (4, "four")):
            ref = SecretRef(name="places-api", version=version)
            assert await open_secret(operator, OLD, ref, "places-1") == value
        await operator.client.remove_secret("places-api")
        assert (await operator.client.list_secrets()).secrets == []
        for call in (operator.client.get_secret, operator.client.remove_secret):
            with pytest.raises(NotFound, match="sluice secret list"):
                await call("places-api")
        assert [row["sealed"] for row in await read_rows(operator)] == [None] * 4
        with pytest.raises(Unprocessable, match="give the templates that may use it"):
            await operator.client.set_secret(make_secret("places-api", "five"))


async def test_answers_do_not_contain_the_value(database_url: str) -> None:
    async with run_operator(database_url, encryption_keys=OLD) as operator:
        path, own = "/api/v1/secrets", {"name": "places-api", "value": VALUE}
        answers = [
            await operator.http.post(path, json={**own, "templates": ["a"]}),
            await operator.http.get(f"{path}/places-api"),
            await operator.http.get(path),
            await operator.http.post(path, json={**own, "templates": ["/"]}),
            await operator.http.post(path, json={**own, "value": VALUE + "\0"}),
            await operator.http.post(path, json={**own, "value": VALUE * MAX_SECRET}),
            await operator.http.post(path, json={**own, "value": [VALUE], "worth": VALUE}),
            await operator.http.post(path, content=f'{{"value": "{VALUE}"'),
            await operator.http.post(path, content=json.dumps(VALUE)),
            await operator.http.post(path, json={**own, "name": "a b"}),
            await operator.http.post("/api/v1/sealed-secrets", json={"text": VALUE}),
        ]
        assert [answer.status_code for answer in answers] == [201, 200, 200, *[422] * 7, 409]
        assert not [answer.text for answer in answers if VALUE[:8] in answer.text]
        assert all(answer.headers["cache-control"] == "no-store" for answer in answers)
        [row] = await read_rows(operator)
        assert VALUE.encode() not in row["sealed"]


async def test_value_is_opened_only_with_the_key_and_for_named_templates(
    database_url: str,
) -> None:
    async with run_operator(database_url, encryption_keys=OLD) as operator:
        await operator.client.set_secret(make_secret("places-api", VALUE, "places*"))
        ref = SecretRef(name="places-api", version=1)
        assert await open_secret(operator, OLD, ref, "places-eu") == VALUE
        with pytest.raises(Conflict, match="is not for template 'cities', but for places"):
            await open_secret(operator, OLD, ref, "cities")
        with pytest.raises(Conflict, match=r"\(version 2\) is no longer there"):
            await open_secret(operator, OLD, SecretRef(name="places-api", version=2), "places-eu")
        with pytest.raises(Conflict, match="cannot be decrypted"):
            await open_secret(operator, NEW, ref, "places-eu")


async def test_swapped_rows_of_secrets_are_not_opened(database_url: str) -> None:
    async with run_operator(database_url, encryption_keys=OLD) as operator:
        for name in ("one", "two"):
            await operator.client.set_secret(make_secret(name, name, "*"))
        connection = await asyncpg.connect(database_url)
        await connection.execute(
            "UPDATE secrets SET sealed = (SELECT sealed FROM secrets WHERE name = 'one')"
        )
        await connection.close()
        assert await open_secret(operator, OLD, SecretRef(name="one", version=1), "t") == "one"
        with pytest.raises(Conflict, match="version 1 of secret 'two' cannot be decrypted"):
            await open_secret(operator, OLD, SecretRef(name="two", version=1), "t")


async def test_encryption_key_is_rotated_with_two_starts(database_url: str) -> None:
    ref = SecretRef(name="places-api", version=1)
    async with run_operator(database_url, encryption_keys=OLD) as operator:
        await operator.client.set_secret(make_secret("places-api", VALUE, "*"))
    async with run_operator(database_url, encryption_keys=f"{NEW},{OLD}") as operator:
        assert await open_secret(operator, f"{NEW},{OLD}", ref, "t") == VALUE
    async with run_operator(database_url, encryption_keys=NEW) as operator:
        assert await open_secret(operator, NEW, ref, "t") == VALUE


async def test_service_without_a_key_is_ready_and_refuses_secrets(database_url: str) -> None:
    async with run_operator(database_url, encryption_keys=OLD) as operator:
        await operator.client.set_secret(make_secret("places-api", VALUE, "*"))
    async with run_operator(database_url) as operator:
        with pytest.raises(Conflict, match="set SLUICE_ENCRYPTION_KEYS"):
            await operator.client.set_secret(make_secret("other", VALUE, "*"))
        assert [secret.name for secret in (await operator.client.list_secrets()).secrets] == [
            "places-api"
        ]
        assert (await operator.http.get("/readyz")).status_code == 200


async def test_template_page_and_comparison_name_the_secret(operator: Operator) -> None:
    stored = NewTemplate(name="places", cwl=TEMPLATE)
    changes = await operator.client.compare_template(stored)
    assert [change.name for change in changes.plan if change.part == "secret"] == ["token"]
    await operator.client.store_template(stored)
    page = (await operator.http.get("/templates/places")).text
    assert "<code>secret:places-api</code>" in page
    other = NewTemplate(name="places", cwl=TEMPLATE.replace("secret:places-api", "secret:other"))
    changes = await operator.client.compare_template(other)
    assert [change.details for change in changes.plan if change.part == "secret"] == [
        ["secret:places-api → secret:other"]
    ]
