"""The fake operator service of the tests of the WfMS has templates and secrets as the real one."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import count
from uuid import UUID, uuid4

import pytest
import pytest_asyncio
from cryptography.fernet import Fernet
from pydantic import SecretStr

from sluice.clients.operator import OperatorClient
from sluice.contracts.access.secrets import NewSecret
from sluice.contracts.templates.templates import NewTemplate
from sluice.servicekit.metrics import ServiceMetrics
from sluice.servicekit.web.http import Health, create_app
from tests.callers import open_to_all
from tests.conftest import DatabaseFactory
from tests.integration.fakes.two_services import NOT_FOUND, REAL, get_refusal, make_http_client
from tests.integration.operator.conftest import SPD, run_operator
from tests.integration.wfms.fake_operator import FakeOperator

pytestmark = pytest.mark.asyncio(loop_scope="module")

NAMES = (f"n{number}" for number in count())


@dataclass
class Operator:
    """One of the two. All rows come from the real service; ``fake`` is None for the real one."""

    client: OperatorClient
    real: OperatorClient
    fake: FakeOperator | None

    async def template(self, name: str, text: str) -> UUID:
        """Store the next version of a template, and return its id."""
        stored = await self.real.store_template(NewTemplate(name=name, cwl=text))
        if self.fake is not None:
            self.fake.templates.append(stored)
        return stored.id

    async def secret(self, name: str, *templates: str) -> None:
        """Store the next version of a secret."""
        new = NewSecret(name=name, value=SecretStr("hunter2-hunter2"), templates=list(templates))
        secret = await self.real.set_secret(new)
        if self.fake is not None:
            self.fake.secrets[name] = secret


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def real(make_module_database: DatabaseFactory) -> AsyncIterator[OperatorClient]:
    url = await make_module_database("wfms.operator.db.migrations")
    async with run_operator(url, encryption_keys=Fernet.generate_key().decode()) as operator:
        yield operator.client


@pytest.fixture
def operator(kind: str, real: OperatorClient) -> Operator:
    if kind == REAL:
        return Operator(real, real, None)
    fake = FakeOperator()
    app = create_app(
        "operator", [open_to_all(fake.routes())], health=Health({}), metrics=ServiceMetrics()
    )
    return Operator(OperatorClient(make_http_client(app, "operator")), real, fake)


async def test_latest_versions_of_templates_are_listed_by_name(operator: Operator) -> None:
    text = SPD.read_text()
    second, first = next(NAMES), next(NAMES)
    for name, version in ((second, text), (first, text), (second, text + "\n# again\n")):
        await operator.template(f"t-{name}", version)
    names = {f"t-{first}", f"t-{second}"}
    listed = [
        (template.name, template.version)
        for template in (await operator.client.list_templates()).templates
        if template.name in names
    ]
    assert sorted(listed) == [(f"t-{second}", 2), (f"t-{first}", 1)]
    assert listed == sorted(listed)


async def test_secret_has_its_versions_and_no_values(operator: Operator) -> None:
    name = next(NAMES)
    await operator.secret(name, "wf*")
    await operator.secret(name, "wf*", "other")
    secret = await operator.client.get_secret(name)
    assert [version.version for version in secret.versions] == [2, 1]
    assert secret.newest.templates == ["wf*", "other"]
    assert secret.refused is None


async def test_unknown_secret_is_not_found(operator: Operator) -> None:
    assert await get_refusal(operator.client.get_secret("nothing")) == NOT_FOUND


async def test_secret_is_refused_to_templates_that_may_not_use_it(operator: Operator) -> None:
    secret, allowed, other = next(NAMES), f"t-{next(NAMES)}", f"t-{next(NAMES)}"
    ids = [await operator.template(name, SPD.read_text()) for name in (allowed, other)]
    await operator.secret(secret, allowed)
    refused = [
        (await operator.client.get_secret(secret, template_id=uid)).refused is not None
        for uid in (*ids, uuid4())
    ]
    assert refused == [False, True, True]
