"""Routes for pilots: registration, leases, heartbeats and reports.

The leases, heartbeats and reports of many jobs are the hot path, so these three routes read and
write JSON directly.
"""

import time
from dataclasses import dataclass
from typing import Annotated, Protocol
from uuid import UUID

import orjson
from fastapi import Depends, Header, Request, Response

from sluice.clients.dms import DmsClient
from sluice.contracts.access.access import PILOT_PROOF_HEADER, PILOT_TOKEN_HEADER
from sluice.contracts.access.secrets import SecretValues
from sluice.contracts.common.problems import Conflict, Forbidden, NotFound, Unauthenticated
from sluice.contracts.pilots.heartbeats import Heartbeat, HeartbeatAnswer
from sluice.contracts.pilots.leases import JobToken, Lease, LeaseRequest
from sluice.contracts.pilots.output_files import StorageUrls
from sluice.contracts.pilots.registration import RegisterPilot, Registration, SignOff
from sluice.contracts.pilots.reports import Report, ReportAnswers
from sluice.servicekit.access.pilot_keys import proven_key
from sluice.servicekit.access.policy import Other, allow
from sluice.servicekit.access.principal import PilotCaller, find_principal
from sluice.servicekit.access.tokens import PilotTokens
from sluice.servicekit.web.dependencies import from_app
from sluice.servicekit.web.http import api_router, errors
from sluice.servicekit.web.openapi import client_hints
from wms.api.dependencies import Context
from wms.api.raw_body import build_body_schema, create_body_parser
from wms.db.jobs.leases import ClaimedJob
from wms.usecases.leasing.lease_jobs import LeaseResult, lease_jobs
from wms.usecases.leasing.renew_leases import renew_leases
from wms.usecases.limits.list_storage_urls import list_storage_urls
from wms.usecases.pilots.authenticate_pilots import RevokedSites
from wms.usecases.pilots.register_pilot import register_pilot
from wms.usecases.pilots.sign_off_pilot import sign_off_pilot
from wms.usecases.reports.report_attempts import report_attempts


class GetSecrets(Protocol):
    """Gives a pilot the secrets of a job that it has leased."""

    async def __call__(self, *, pilot: UUID, job: JobToken) -> SecretValues:
        """Return the secrets."""
        ...


@dataclass(frozen=True, slots=True)
class PilotDependencies:
    """What the routes for pilots need besides the context.

    Attributes:
        dms: A client of the DMS.
        get_secrets: The use case that returns the secrets of a pilot's job.
        tokens: Issues the tokens with which registered pilots authenticate. None means that they
            need no tokens.
        revoked_sites: Sites whose pilots get no jobs.
    """

    dms: DmsClient
    get_secrets: GetSecrets
    tokens: PilotTokens | None
    revoked_sites: RevokedSites


#: The dependency on these parts.
Pilots = Annotated[PilotDependencies, Depends(from_app(PilotDependencies))]

router = api_router("/api/v1/pilots", tags=["pilots"])


@router.post(
    "",
    operation_id="register_pilot",
    responses=errors(Unauthenticated, Forbidden),
    openapi_extra=build_body_schema(RegisterPilot),
)
@allow(Other.ENROLLED)
async def register_pilot_route(
    context: Context,
    pilots: Pilots,
    *,
    body: Annotated[RegisterPilot, Depends(create_body_parser(RegisterPilot))],
    request: Request,
    response: Response,
    proof: Annotated[str | None, Header(alias=PILOT_PROOF_HEADER)] = None,
) -> Registration:
    """Register a pilot, and return the heartbeat interval and the duration of leases.

    A repetition updates the resources of the same pilot. Where services have tokens, a pilot
    proves that it has a key, and can be registered again only with this key.
    """
    if proof is None and pilots.tokens is not None:
        raise Unauthenticated(f"a pilot proves its key in the header {PILOT_PROOF_HEADER}")
    key = None if proof is None else proven_key(proof, time.time())
    site = _get_site(request)
    registration = await register_pilot(context, body, key=key, site=site)
    _set_token(response, pilots.tokens, body.uid, site=site)
    return registration


@router.post(
    "/{uid}/lease",
    operation_id="lease",
    response_model=Lease,
    responses=errors(NotFound),
    openapi_extra=build_body_schema(LeaseRequest),
)
@allow(Other.PILOT)
async def lease_route(
    context: Context,
    pilots: Pilots,
    *,
    uid: UUID,
    request: Request,
    body: Annotated[LeaseRequest, Depends(create_body_parser(LeaseRequest))],
) -> Response:
    """Lease up to the requested number of jobs to a pilot; if none is ready, wait for some."""
    site = _get_site(request)

    async def connected() -> bool:
        if site is not None and await pilots.revoked_sites.has(site):
            return False
        return not await request.is_disconnected()

    return _respond(_build_lease(await lease_jobs(context, uid, body, is_connected=connected)))


@router.post(
    "/{uid}/heartbeat",
    operation_id="send_heartbeat",
    response_model=HeartbeatAnswer,
    responses=errors(NotFound),
    openapi_extra=build_body_schema(Heartbeat),
)
@allow(Other.PILOT)
async def send_heartbeat_route(
    context: Context,
    pilots: Pilots,
    *,
    uid: UUID,
    request: Request,
    body: Annotated[Heartbeat, Depends(create_body_parser(Heartbeat))],
) -> Response:
    """Renew the leases of a pilot's jobs.

    The answer says which jobs the pilot must stop, and whether it must drain.
    """
    answer = _respond((await renew_leases(context, uid, body)).model_dump_json().encode())
    _set_token(answer, pilots.tokens, uid, site=_get_site(request))
    return answer


@router.post(
    "/{uid}/report",
    operation_id="report",
    response_model=ReportAnswers,
    responses=errors(NotFound),
    openapi_extra=build_body_schema(Report),
)
@allow(Other.PILOT)
async def report_route(
    context: Context, uid: UUID, body: Annotated[Report, Depends(create_body_parser(Report))]
) -> Response:
    """Record how a pilot's attempts ended. Repeating it is fine."""
    answers = ReportAnswers(answers=await report_attempts(context, uid, body.reports))
    return _respond(answers.model_dump_json().encode())


@router.get(
    "/{uid}/storages",
    operation_id="list_pilot_storages",
    openapi_extra=client_hints(retry=False),
    responses=errors(NotFound),
)
@allow(Other.PILOT)
async def list_pilot_storages_route(context: Context, pilots: Pilots, uid: UUID) -> StorageUrls:
    """List the storages where a pilot may delete files that its attempts left unreported."""
    return await list_storage_urls(context, pilots.dms, uid)


@router.post(
    "/{uid}/secrets",
    operation_id="get_secrets",
    openapi_extra=client_hints(retry=False),
    response_model=SecretValues,
    responses=errors(NotFound, Conflict),
)
@allow(Other.PILOT)
async def get_secrets_route(pilots: Pilots, uid: UUID, body: JobToken) -> Response:
    """Return the secrets of a job that the pilot has leased; they are for the tool only."""
    answer = _respond((await pilots.get_secrets(pilot=uid, job=body)).model_dump_json().encode())
    answer.headers["Cache-Control"] = "no-store"
    return answer


@router.post(
    "/{uid}/sign-off", operation_id="sign_off", status_code=204, responses=errors(NotFound)
)
@allow(Other.PILOT)
async def sign_off_route(context: Context, uid: UUID, body: SignOff) -> None:
    """Sign off a pilot that ends.

    The jobs that it returns are ready at once, and the return does not count against them.
    Repeating it is fine.
    """
    await sign_off_pilot(context, uid, body.returned)


def _get_site(request: Request) -> UUID | None:
    """Return the site of the pilot that sends the request, or None."""
    caller = find_principal(request.scope)
    return caller.site if isinstance(caller, PilotCaller) else None


def _set_token(
    answer: Response, tokens: PilotTokens | None, uid: UUID, *, site: UUID | None
) -> None:
    if tokens is not None:
        answer.headers[PILOT_TOKEN_HEADER] = tokens.issue(uid, site)
        answer.headers["Cache-Control"] = "no-store"


def _respond(body: bytes) -> Response:
    return Response(body, media_type="application/json")


def _build_task(task: bytes, shared_inputs: str | None) -> object:
    return (
        orjson.Fragment(task)
        if shared_inputs is None
        else {**orjson.loads(task), "shared_inputs": orjson.Fragment(shared_inputs)}
    )


def _build_lease(lease_result: LeaseResult) -> bytes:
    """Return the JSON of a ``Lease``.

    Inputs and descriptions of tasks are JSON already and are copied unchanged.
    """
    return orjson.dumps(
        {
            "seconds": lease_result.seconds,
            "drain": lease_result.drain,
            "tasks": [
                _build_task(task.pilot_json, lease_result.shared.get(task.task.uid))
                for task in lease_result.tasks
            ],
            "jobs": [_build_job(job) for job in lease_result.jobs],
        }
    )


def _build_job(job: ClaimedJob) -> dict[str, object]:
    body: dict[str, object] = {
        "id": job.id,
        "attempt": job.attempt,
        "task_uid": str(job.task_uid),
        "seq": job.seq,
        "inputs": orjson.Fragment(job.inputs),
    }
    own = {"ram": job.ram, "gpu_memory": job.gpu_memory}
    return body | {name: need for name, need in own.items() if need is not None}
