"""``/account``: the caller's password and tokens; ``/people``: all accounts."""

from collections.abc import Callable
from datetime import UTC, datetime
from uuid import UUID

from flask import Response, flash, redirect, render_template, request, url_for
from pydantic import SecretStr, ValidationError
from werkzeug.wrappers import Response as AnyResponse

from sluice.contracts.access.access import Role
from sluice.contracts.access.people import (
    MAX_DAYS,
    MIN_PASSWORD,
    USUAL_DAYS,
    AccountChange,
    NewAccount,
    NewPassword,
    NewToken,
    NewTokenSecret,
)
from sluice.contracts.access.quotas import PersonQuotas
from sluice.contracts.common.problems import NotAvailable, NotFound, ServiceError, Unprocessable
from sluice.servicekit.access.principal import Person
from wfms.operator.context import OperatorContext
from wfms.operator.http.access import caller
from wfms.operator.http.bridge import Bridge
from wfms.operator.identity.usecases.accounts.change_account import change_account
from wfms.operator.identity.usecases.accounts.change_own_password import change_own_password
from wfms.operator.identity.usecases.accounts.create_account import create_account
from wfms.operator.identity.usecases.accounts.end_own_sessions import end_own_sessions
from wfms.operator.identity.usecases.accounts.get_me import get_me
from wfms.operator.identity.usecases.accounts.list_accounts import list_accounts
from wfms.operator.identity.usecases.quotas.get_person_quotas import get_person_quotas
from wfms.operator.identity.usecases.tokens.create_token import create_token
from wfms.operator.identity.usecases.tokens.list_tokens import list_tokens
from wfms.operator.identity.usecases.tokens.revoke_token import revoke_token
from wfms.operator.web.framework.form_errors import parse_role, to_form_error
from wfms.operator.web.framework.navigation import Link, LinkGroup
from wfms.operator.web.framework.page_routes import PageRoutes


class PeoplePages:
    """The pages of accounts."""

    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._context = context
        self._database = context.database
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        """Register the pages."""
        pages.get("/account", "account", self.account, Role.VIEWER)
        pages.post("/account/password", "set_password", self.set_password, Role.VIEWER)
        pages.post("/account/sessions/end", "end_sessions", self.end_sessions, Role.VIEWER)
        pages.post("/account/tokens", "create_token", self.create_token, Role.VIEWER)
        pages.post("/account/tokens/<uuid:token>/revoke", "revoke_token", self.revoke, Role.VIEWER)
        pages.get(
            "/people", "people", self.people, Role.ADMIN, link=Link(LinkGroup.SYSTEM, "People")
        )
        pages.post("/people", "add_person", self.add, Role.ADMIN)
        pages.post("/people/<name>", "change_person", self.change, Role.ADMIN)

    def account(self) -> str:
        """Show the account of the caller."""
        return self._render_account()

    def _render_account(
        self, refusal: ServiceError | None = None, new_token: NewTokenSecret | None = None
    ) -> str:
        """Render the account page. ``new_token``: a new token, which is shown only this time."""
        person, now = caller(), datetime.now(UTC)
        tokens = self._bridge.run(list_tokens(self._database, person.name))
        return render_template(
            "account.html",
            me=self._bridge.run(get_me(self._database, person)),
            has=self._read_quotas(person),
            tokens=[token for token in tokens if token.holds(now)],
            roles=[role for role in Role if person.role.includes(role)],
            refusal=refusal,
            new_token=new_token,
            form={} if new_token else request.form,
            least=MIN_PASSWORD,
            usual_days=USUAL_DAYS,
            most_days=MAX_DAYS,
        )

    def _read_quotas(self, person: Person) -> PersonQuotas | None:
        """Return the quotas of a person, or None if they are not available.

        The rest of the page works without them.
        """
        try:
            return self._bridge.run(get_person_quotas(self._context, person.name, by=person))
        except (NotAvailable, NotFound):  # not every person has an account
            return None

    def set_password(self) -> AnyResponse:
        """Change the password of the caller."""

        def change() -> None:
            new = NewPassword(old=_read_secret("old"), new=_read_secret("new"))
            self._bridge.run(change_own_password(self._context, caller(), new))

        if response := _show_refusal(change, self._render_account):
            return response
        flash("Password changed. Sign in again.")
        return redirect(url_for("pages.account"), 303)

    def end_sessions(self) -> AnyResponse:
        """End all sessions of the caller."""
        self._bridge.run(end_own_sessions(self._context, caller()))
        return redirect(url_for("pages.overview"), 303)

    def create_token(self) -> AnyResponse:
        """Create a token and show it."""
        new_tokens: list[NewTokenSecret] = []

        def create() -> None:
            new = NewToken(
                label=request.form.get("label", "").strip(),
                role=parse_role(request.form.get("role", caller().role)),
                days=request.form.get("days", USUAL_DAYS, type=int),
            )
            new_tokens.append(self._bridge.run(create_token(self._database, new, by=caller())))

        if response := _show_refusal(create, self._render_account):
            return response
        return Response(
            self._render_account(new_token=new_tokens[0]), status=201, mimetype="text/html"
        )

    def revoke(self, token: UUID) -> AnyResponse:
        """Revoke a token of the caller."""
        revoked = self._bridge.run(revoke_token(self._database, token, by=caller()))
        flash(f"{revoked.label} is revoked.")
        return redirect(url_for("pages.account"), 303)

    def people(self) -> str:
        """Show all accounts."""
        return self._render_people()

    def _render_people(self, refusal: ServiceError | None = None) -> str:
        return render_template(
            "people.html",
            accounts=self._bridge.run(list_accounts(self._database)),
            roles=list(Role),
            refusal=refusal,
            form=request.form,
            least=MIN_PASSWORD,
        )

    def add(self) -> AnyResponse:
        """Create an account."""

        def add() -> None:
            password = request.form.get("password", "")
            new = NewAccount(
                name=request.form.get("name", "").strip().lower(),
                role=parse_role(request.form.get("role", Role.VIEWER)),
                password=SecretStr(password) if password else None,
                groups=_read_groups() or [],
            )
            account = self._bridge.run(create_account(self._context, new, by=caller()))
            flash(f"{account.name} is {account.role}.")

        return _show_refusal(add, self._render_people) or redirect(url_for("pages.people"), 303)

    def change(self, name: str) -> AnyResponse:
        """Change the account in the fields that the form has."""

        def change() -> None:
            role, disabled, password = (
                request.form.get(field, "") for field in ("role", "disabled", "password")
            )
            new = AccountChange(
                role=parse_role(role) if role else None,
                disabled=disabled == "yes" if disabled else None,
                password=SecretStr(password) if password else None,
                groups=_read_groups(),
            )
            changed = self._bridge.run(change_account(self._context, name, new, by=caller()))
            may = f"is {changed.role}" if changed.disabled_at is None else "is disabled"
            flash(f"{changed.name} {may}{', with another password' if password else ''}.")

        return _show_refusal(change, self._render_people) or redirect(url_for("pages.people"), 303)


def _read_groups() -> list[str] | None:
    """Return the groups in the form, in their order, or None if the form has no such field."""
    text = request.form.get("groups")
    return None if text is None else text.replace(",", " ").split()


def _read_secret(field: str) -> SecretStr:
    return SecretStr(request.form.get(field, ""))


def _show_refusal(
    work: Callable[[], None], page: Callable[[ServiceError], str]
) -> AnyResponse | None:
    """Do the ``work``; if it is refused, return the ``page`` of the form with the reason."""
    try:
        work()
    except ValidationError as error:
        refusal: ServiceError = to_form_error(error)
    except ServiceError as error:
        refusal = error
    except ValueError as error:
        refusal = Unprocessable(str(error))
    else:
        return None
    return Response(page(refusal), status=refusal.status, mimetype="text/html")
