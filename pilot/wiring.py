"""Assembly of a pilot and its run from registration to sign-off."""

import asyncio
import math
import platform
import signal
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version

import httpx
import structlog

from pilot.domain.core import PilotCore
from pilot.domain.model import DrainRequested, ShutdownRequested
from pilot.domain.prefetch import PrefetchPolicy
from pilot.folders.pilot_folder import PilotFolder, open_folder
from pilot.folders.run_folder import RunFolder
from pilot.isolation.node.memory_groups import find_memory_groups
from pilot.loops.deadlines import watch_deadlines
from pilot.loops.heartbeats import send_heartbeats
from pilot.loops.leasing import request_jobs
from pilot.loops.reporting import send_reports
from pilot.loops.takeover import take_over
from pilot.node.engines import RUN_LABEL, Engine, remove_containers
from pilot.node.gpus import NodeGpu, find_gpus
from pilot.node.resources import DeclaredResources, compute_offer, default_max_slots, detect
from pilot.node_isolation import NodeIsolation, find_node_isolation, with_users
from pilot.reports.file_remover import FileRemover
from pilot.reports.outbox import Outbox
from pilot.runner.programs.orphans import adopt_orphans
from pilot.runner.protocol import RunnerSettings
from pilot.runtime import PilotRuntime
from pilot.settings import PilotSettings
from pilot.slot_processes import SlotProcesses
from pilot.wms_session import WmsSession
from sluice.clients.wms import WmsClient
from sluice.contracts.common.problems import ServiceError
from sluice.contracts.pilots.node_parts import NodePart
from sluice.contracts.pilots.nodes import NodeResources
from sluice.contracts.pilots.registration import RegisterPilot, SignOff
from sluice.network.http_clients import http_client
from sluice.pilot_access.auth import PilotAuth
from sluice.pilot_access.key import PilotKey
from sluice.scheduling.fit import NodeCapacity
from sluice.servicekit.running.processes import until_ended

log = structlog.get_logger(__name__)

#: Share of the node's memory for a job without a memory request. The rest keeps the node alive.
_DEFAULT_MEMORY_SHARE = 0.9
#: Maximum number of slots at the start of a pilot.
_FEW_SLOTS = 4
#: Seconds for processes of an earlier pilot of this name to end.
_FOLDER_PATIENCE = 20.0


async def run_pilot(settings: PilotSettings) -> None:
    """Run a pilot until SIGTERM or SIGINT, or until the WMS tells it to drain.

    Raises:
        FolderInUseError: Another pilot of this name still runs.
        UnsafeFolderError: Others may have written to the folder.
        NoSandboxError: A required sandbox is not available.
        UnsuitableUsersError: The named users are not suitable.
    """
    folder = open_folder(settings.work_dir / settings.name, patience=_FOLDER_PATIENCE)
    uid = uuid.uuid4()
    run = folder.run(uid)
    gpus = NodePart.of(settings.part).things(await asyncio.to_thread(find_gpus))
    resources = _detect_resources(settings, run, gpus)
    slots = settings.slots or default_max_slots(resources.cores)
    # This process must not become a subreaper before the tests of the sandbox, which leave orphans.
    isolation = await asyncio.to_thread(find_node_isolation, settings, run, slots)
    await asyncio.to_thread(_remove_old_containers, isolation.engines, folder.earlier_runs(uid))
    adopt_orphans()
    min_users = settings.slots or math.ceil(resources.cores)
    add_users = partial(with_users, settings=settings, min_users=min_users, folder=folder, run=run)
    isolation = await asyncio.to_thread(add_users, isolation)
    slots = len(isolation.users) or slots
    pilot = _describe_pilot(settings, uid, slots=slots, resources=resources, isolation=isolation)
    key = await asyncio.to_thread(PilotKey.load_or_create, folder.key)
    connect = partial(_connect_to_wms, settings, key)
    async with connect() as http:
        session = _create_session(settings, connect, http, pilot)
        outbox = Outbox(run.journals, FileRemover(session.storages))
        groups = await asyncio.to_thread(find_memory_groups, str(uid))
        if groups is not None:
            run.save_memory_group(groups.groups.folder)
        limits = {
            "memory_unasked": int(resources.ram * _DEFAULT_MEMORY_SHARE),
            "memory_groups": groups and groups.groups,
            "gpus": {gpu.gpu.uuid: gpu.path for gpu in gpus},
        }
        runner = _build_runner_settings(settings, folder, run, isolation).model_copy(update=limits)
        slot_processes = SlotProcesses(
            runner, environment=settings.worker_environment, inherit=[folder.lock], reap=True
        )
        core = _create_core(settings, resources, slots)
        runtime = PilotRuntime(core, slot_processes, outbox, run, request_secrets=session.secrets)
        _drain_on_signals(runtime, settings.drain_timeout)
        ending = asyncio.create_task(
            _shut_down_with(settings.end_with, runtime), name="end with another process"
        )
        try:
            await runtime.start()
            await _run_loops(runtime, session, outbox, settings=settings, folder=folder)
            await _sign_off(runtime, session)
        finally:
            ending.cancel()
            await slot_processes.stop()
            if groups is not None:
                await asyncio.to_thread(groups.remove)
    if outbox.empty.is_set():
        run.delete()
    folder.close()


def _create_core(settings: PilotSettings, resources: NodeResources, slots: int) -> PilotCore:
    node = NodeCapacity.of(
        resources.cores,
        resources.ram,
        resources.devices,
        disk=resources.disk,
        named=resources.named,
    )
    policy = PrefetchPolicy(horizon=settings.horizon, grace=settings.grace)
    return PilotCore(slots, policy, node, min_slots=_count_initial_slots(resources))


def _connect_to_wms(settings: PilotSettings, key: PilotKey) -> httpx.AsyncClient:
    return http_client(settings.wms_url, timeout=10.0, auth=PilotAuth(settings.token_file, key))


def _create_session(
    settings: PilotSettings,
    connect: Callable[[], httpx.AsyncClient],
    http: httpx.AsyncClient,
    pilot: RegisterPilot,
) -> WmsSession:
    needs_token = settings.token_file is not None
    return WmsSession(WmsClient(http), pilot, connect=connect if needs_token else None)


def _describe_pilot(
    settings: PilotSettings,
    uid: uuid.UUID,
    *,
    slots: int,
    resources: NodeResources,
    isolation: NodeIsolation,
) -> RegisterPilot:
    return RegisterPilot(
        uid=uid,
        name=settings.name,
        host=platform.node(),
        slots=slots,
        resources=resources,
        version=version("sluice"),
        engines=[engine.kind for engine in isolation.engines],
        sandbox=isolation.kind,
    )


def _detect_resources(
    settings: PilotSettings, run: RunFolder, gpus: Sequence[NodeGpu]
) -> NodeResources:
    """Return the resources that jobs may use."""
    node = detect(run.path, gpus=[gpu.gpu for gpu in gpus])
    declared = DeclaredResources(
        settings.cores,
        settings.memory,
        settings.disk,
        settings.part,
        settings.resources,
        settings.labels,
    )
    return compute_offer(node, declared)


def _count_initial_slots(resources: NodeResources) -> int:
    """Return how many slots run from the start, so that the first jobs need not wait."""
    return max(1, min(_FEW_SLOTS, int(resources.cores)))


async def _run_loops(
    runtime: PilotRuntime,
    session: WmsSession,
    outbox: Outbox,
    *,
    settings: PilotSettings,
    folder: PilotFolder,
) -> None:
    """Run the loops until everything is done after a drain.

    If a loop fails unexpectedly, the pilot ends and its supervisor restarts it.
    """
    finished = asyncio.create_task(runtime.finished.wait())
    registered = asyncio.create_task(session.register())
    await asyncio.wait([registered, finished], return_when=asyncio.FIRST_COMPLETED)
    if not registered.done():  # The pilot was told to end before the WMS answered.
        registered.cancel()
        return
    loops = [
        asyncio.create_task(send_heartbeats(runtime, session), name="heartbeats"),
        asyncio.create_task(send_reports(runtime, outbox, session), name="reports"),
        asyncio.create_task(watch_deadlines(runtime), name="deadlines"),
    ]
    background = [
        asyncio.create_task(
            request_jobs(runtime, session, wait=settings.lease_wait), name="leases"
        ),
        asyncio.create_task(
            take_over(folder.earlier_runs(session.pilot.uid), session, outbox.file_remover),
            name="takeover",
        ),
    ]
    try:
        await _wait_until_finished(finished, [*loops, *background])
        for task in background:
            task.cancel()
        async with asyncio.timeout(settings.flush_timeout):
            await outbox.empty.wait()
    except TimeoutError:
        log.error("pilot.reports_left", note="the next pilot of this name sends them")
    finally:
        for task in [*loops, *background]:
            task.cancel()
        await asyncio.gather(*loops, *background, return_exceptions=True)


async def _wait_until_finished(
    finished_task: "asyncio.Task[bool]", tasks: "list[asyncio.Task[None]]"
) -> None:
    pending: set[asyncio.Task[None]] = set(tasks)
    while not finished_task.done():
        done, _ = await asyncio.wait([finished_task, *pending], return_when=asyncio.FIRST_COMPLETED)
        for task in pending & done:
            task.result()
            pending.discard(task)


async def _sign_off(runtime: PilotRuntime, session: WmsSession) -> None:
    if session.registration_count == 0:
        return
    try:
        await session.client.sign_off(
            session.pilot.uid, SignOff(returned=runtime.core.returned_tokens)
        )
        log.info("pilot.signed_off", returned=len(runtime.core.returned_tokens))
    except ServiceError as error:  # The WMS notices by the missing heartbeats.
        log.warning("pilot.not_signed_off", reason=error.detail)


async def _shut_down_with(process: int | None, runtime: PilotRuntime) -> None:
    if process is not None:
        await until_ended(process)
        log.warning("pilot.shutdown", ended=process)
        runtime.tell(DrainRequested())
        runtime.tell(ShutdownRequested())


def _drain_on_signals(runtime: PilotRuntime, drain_timeout: float | None) -> None:
    loop = asyncio.get_running_loop()
    signals = 0

    def shut_down() -> None:
        log.warning("pilot.shutdown", jobs=len(runtime.core.heartbeat().running))
        runtime.tell(ShutdownRequested())

    def on_signal() -> None:
        nonlocal signals
        signals += 1
        if signals > 1:
            shut_down()
            return
        log.info("pilot.drain", timeout=drain_timeout)
        runtime.tell(DrainRequested())
        if drain_timeout is not None:
            loop.call_later(drain_timeout, shut_down)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal)


def _remove_old_containers(engines: Sequence[Engine], runs: Sequence[RunFolder]) -> None:
    """Remove containers of earlier runs of this pilot.

    The containers of a killed pilot keep running in their engine.
    """
    for run in runs:
        for engine in engines:
            remove_containers(engine, f"{RUN_LABEL}={run.uid}")


def _build_runner_settings(
    settings: PilotSettings, folder: PilotFolder, run: RunFolder, isolation: NodeIsolation
) -> RunnerSettings:
    return RunnerSettings(
        pilot=settings.name,
        run_folder=str(run.path),
        grace=settings.grace,
        memory_factor=settings.memory_factor,
        memory_floor=settings.memory_floor,
        log_limit=settings.log_limit,
        live_logs=settings.live_logs,
        checkpoint_limit=settings.checkpoint_limit << 20,
        sandbox_required=settings.expressions == "required",
        expression_limit=settings.expression_limit,
        engine=next(iter(isolation.engines), None),
        sandbox=None if isinstance(isolation.sandbox, str) else isolation.sandbox,
        no_sandbox=isolation.sandbox if isinstance(isolation.sandbox, str) else "",
        users=list(isolation.users),
        images=str(folder.path.parent / "images"),
        assets=str(folder.path.parent / "assets"),
        asset_cache=settings.asset_cache << 20,
    )
