"""Accounts of an operator service, and clients that act as a person."""

from uuid import UUID

import asyncpg
from pydantic import SecretStr

from sluice.clients.operator import OperatorClient
from sluice.contracts.access.access import Role
from sluice.contracts.access.people import Account, NewAccount, NewToken
from sluice.servicekit.access.people import People
from sluice.servicekit.access.principal import Person
from tests.integration.operator.conftest import Operator

PASSWORD, OTHER = "correct horse battery", "staple of a battery"

ROOT = Person("root", Role.ADMIN)

OWN_TOKEN = "sluice_0123456789abcdef0123456789abcdef"


def make_person_client(operator: Operator, person: Person) -> OperatorClient:
    return OperatorClient(operator.links.http_of(person, "wfms.operator"))


def get_people(operator: Operator) -> People:
    assert operator.service.account_authentication is not None
    return operator.service.account_authentication.people


async def add_account(
    operator: Operator, name: str, role: Role = Role.SUBMITTER, password: str | None = PASSWORD
) -> Account:
    secret = None if password is None else SecretStr(password)
    new = NewAccount(name=name, role=role, password=secret)
    return await make_person_client(operator, ROOT).add_account(new)


async def find_holder(operator: Operator, token: str) -> Person | None:
    principal = await get_people(operator).principal(token)
    assert principal is None or isinstance(principal, Person)
    return principal


async def create_token(operator: Operator, by: Person, **what: object) -> tuple[UUID, str]:
    new = NewToken.model_validate({"label": "a script", **what})
    token = await make_person_client(operator, by).create_token(new)
    return token.token.id, token.secret.get_secret_value()


async def execute(operator: Operator, statement: str) -> None:
    connection = await asyncpg.connect(operator.database_url)
    await connection.execute(statement)
    await connection.close()
