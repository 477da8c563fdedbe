"""The services' logins, read from the services' own settings, so that nothing is written twice."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

from pydantic_settings import SettingsConfigDict

from sluice.contracts.access.services import SERVICES
from sluice.servicekit.settings import env_prefix
from sluice.servicekit.settings_sources import InvalidSettings, LayeredSettings, load_settings
from sluice.text.visible_text import quoted


class SetupSettings(LayeredSettings):
    """Settings ``SLUICE_SETUP_…``: the administrator's access to the servers.

    The command's options take precedence.
    """

    model_config = SettingsConfigDict(env_prefix="SLUICE_SETUP_")

    #: For `sluice setup databases`: `postgresql://login:password@host:port/postgres` of a
    #: superuser.
    admin_url: str | None = None
    #: For `sluice setup broker`: `http://login:password@host:15672` of an administrator of
    #: RabbitMQ's management plugin.
    management_url: str | None = None
    #: `postgresql://login:password@host:port/postgres`: a login that `sluice setup databases` makes
    #: for backups. It may read everything that PostgreSQL writes.
    backup_url: str | None = None


class _DatabaseUrl(LayeredSettings):
    database_url: str


class _BrokerUrl(LayeredSettings):
    broker_url: str


@dataclass(frozen=True, slots=True)
class ServiceLogin:
    """The login of a service.

    ``place`` is the database or virtual host. ``variable`` is the setting that the login comes
    from.
    """

    service: str
    user: str
    password: str
    place: str
    variable: str


def database_logins() -> list[ServiceLogin]:
    """Return the services' logins at their databases.

    Raises:
        InvalidSettings: A login is missing, or two services have the same login or database.
    """
    logins = _logins(
        "DATABASE_URL",
        lambda prefix: load_settings(_DatabaseUrl, prefix=prefix).database_url,
        _database,
    )
    _require_different(logins, "login", lambda login: login.user)
    _require_different(logins, "database", lambda login: login.place)
    return logins


def database_urls() -> dict[str, str]:
    """Return the URL of each service's database.

    Raises:
        InvalidSettings: A login is missing, or two services have the same login or database.
    """
    database_logins()
    return {
        service: load_settings(_DatabaseUrl, prefix=env_prefix(service)).database_url
        for service in SERVICES
    }


def backup_login() -> ServiceLogin | None:
    """Return the login for backups, or None if no backup is wanted.

    Raises:
        InvalidSettings: The login is wrong.
    """
    variable = "SLUICE_SETUP_BACKUP_URL"
    url = load_settings(SetupSettings).backup_url
    return None if url is None else _login("the backup", variable, url, _database)


def broker_logins() -> list[ServiceLogin]:
    """Return the services' logins at the broker, which they may share.

    Raises:
        InvalidSettings: A login is missing, a login has two passwords, or the virtual hosts differ.
    """
    logins = _logins(
        "BROKER_URL",
        lambda prefix: load_settings(_BrokerUrl, prefix=prefix).broker_url,
        _virtual_host,
    )
    passwords: dict[str, set[str]] = {}
    for login in logins:
        passwords.setdefault(login.user, set()).add(login.password)
    if several := [user for user, values in passwords.items() if len(values) > 1]:
        raise InvalidSettings(
            [
                f"the broker's login {user} has different passwords in the settings"
                for user in several
            ]
        )
    if len({login.place for login in logins}) > 1:
        virtual_hosts = ", ".join(f"{login.variable}: {login.place}" for login in logins)
        raise InvalidSettings(
            [
                "the services name different virtual hosts, but can exchange messages only within"
                f" one ({virtual_hosts})"
            ]
        )
    return logins


def _logins(
    setting: str, read: Callable[[str], str], place: Callable[[SplitResult, str], str]
) -> list[ServiceLogin]:
    logins: list[ServiceLogin] = []
    problems: list[str] = []
    for service in SERVICES:
        prefix = env_prefix(service)
        try:
            logins.append(_login(service, prefix + setting, read(prefix), place))
        except InvalidSettings as error:
            problems += error.sentences
    if problems:
        raise InvalidSettings(problems)
    return logins


def _login(
    service: str, variable: str, url: str, place: Callable[[SplitResult, str], str]
) -> ServiceLogin:
    parts = urlsplit(url)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if not user or not password:
        raise InvalidSettings(
            [f"{variable} must name a login and its password: …://login:password@host:port/…"]
        )
    if not password.isascii() or not password.isprintable():
        raise InvalidSettings([f"{variable}: a password may have only printable ASCII characters"])
    return ServiceLogin(service, user, password, place(parts, variable), variable)


def _database(parts: SplitResult, variable: str) -> str:
    name = unquote(parts.path.removeprefix("/"))
    if parts.scheme not in {"postgresql", "postgres"} or not name:
        raise InvalidSettings(
            [f"{variable} must name a database: postgresql://login:password@host:port/database"]
        )
    return name


def _virtual_host(parts: SplitResult, variable: str) -> str:
    if parts.scheme not in {"amqp", "amqps"}:
        raise InvalidSettings(
            [f"{variable} must lead to RabbitMQ: amqp://login:password@host:port/vhost"]
        )
    return unquote(parts.path.removeprefix("/")) or "/"


def _require_different(
    logins: Iterable[ServiceLogin], what: str, key: Callable[[ServiceLogin], str]
) -> None:
    logins = list(logins)
    repeated = [value for value, times in Counter(map(key, logins)).items() if times > 1]
    if repeated:
        raise InvalidSettings(
            [
                f"each service needs its own {what}; {quoted(value)} is in "
                + " and ".join(login.variable for login in logins if key(login) == value)
                for value in repeated
            ]
        )
