"""The commands `sluice site …`."""

from typing import Annotated

import typer

from sluice.cli.confirmation import Confirmation, with_confirmation
from sluice.cli.errors import plain_errors
from sluice.cli.object_lookup import require_existing_name
from sluice.cli.system import System, with_system
from sluice.clientkit.connection import Connection
from sluice.clientkit.local_times import local_time
from sluice.clientkit.output import err, print_json, print_table
from sluice.contracts.pilots.sites import MAX_SITE_DAYS, USUAL_SITE_DAYS, NewSite, Site

app = typer.Typer(
    no_args_is_help=True, help="Sites that pilots come from, and that can be revoked."
)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name of the site.")]


@app.command("add")
@with_system
def add(
    system: System,
    name: NameArgument,
    *,
    days: Annotated[
        int,
        typer.Option(
            min=1,
            max=MAX_SITE_DAYS,
            help="The number of days in which new pilots may enrol. Enrolled pilots stay.",
        ),
    ] = USUAL_SITE_DAYS,
    pilots: Annotated[
        int | None, typer.Option(min=1, help="The maximum number of pilots at a time.")
    ] = None,
    labels: Annotated[
        list[str] | None,
        typer.Option(
            "--label",
            metavar="NAME",
            help="A label that the pilots may have. Without the option, they may have any.",
        ),
    ] = None,
    resources: Annotated[
        list[str] | None,
        typer.Option(
            "--resource",
            metavar="NAME",
            help="A resource that the pilots may offer. Without the option, they may offer any.",
        ),
    ] = None,
) -> None:
    """Register a site that may have pilots. The token by which they enrol is shown only once."""
    new = plain_errors(
        lambda: NewSite(
            name=name, days=days, most_pilots=pilots, labels=labels, resources=resources
        )
    )
    new_site = system.ask(lambda c: c.operator.add_site(new))
    if system.as_json:
        print_json(new_site)
        return
    err.print(
        f"new pilots of {name} may come until {local_time(new_site.site.expires_at)}, with a file"
        " that has this in it (SLUICE_PILOT_TOKEN_FILE); it is not shown again:"
    )
    print(new_site.secret.get_secret_value())


@app.command("list")
@with_system
def list_sites(system: System) -> None:
    """List sites.

    For each site, it shows how many pilots it has, what they may have, and until when new ones may
    enrol.
    """
    page = system.ask(lambda c: c.operator.list_sites())
    if system.as_json:
        print_json(page)
        return
    print_table(
        ["site", "pilots", "at most", "new until", "labels", "resources"],
        [_row(site) for site in page.sites],
        empty="no site: pilots register with the token of the system",
    )


@app.command("revoke")
@with_system
@with_confirmation
def revoke(system: System, confirmation: Confirmation, name: NameArgument) -> None:
    """Permanently revoke a site and its pilots.

    Their jobs run elsewhere when their leases have expired. Reports of the pilots no
    longer count.
    """

    async def check_exists(connection: Connection) -> None:
        sites = (await connection.operator.list_sites()).sites
        require_existing_name("site", name, (site.name for site in sites))

    system.ask(check_exists)
    confirmation.require(f"revoke site {name} permanently: results of its pilots no longer count")
    revoked = system.ask(lambda c: c.operator.revoke_site(name))
    system.answer(revoked, f"{name} was revoked, with the {revoked.pilots} pilots that it has")


def _row(site: Site) -> tuple[object, ...]:
    until = local_time(site.expires_at)
    if site.revoked_at is not None:
        until = f"revoked {local_time(site.revoked_at)}"
    allowed = [
        "any" if names is None else ", ".join(names) for names in (site.labels, site.resources)
    ]
    return (site.name, site.pilots, site.most_pilots, until, *allowed)
