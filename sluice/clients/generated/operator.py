"""Calls of wfms.operator, generated from its OpenAPI document by `make docs`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from sluice.clients.base import API, build_path
from sluice.clients.generated.ask import ForwardedAskCalls
from sluice.clients.generated.chains import ForwardedChainsCalls
from sluice.clients.generated.dms import ForwardedDmsCalls
from sluice.clients.generated.intake import ForwardedIntakeCalls
from sluice.clients.generated.wms import ForwardedWmsCalls

if TYPE_CHECKING:
    from sluice.contracts.access.audit import AuditPage, AuditVerdicts
    from sluice.contracts.access.device_login import (
        DeviceAnswer,
        DeviceLogin,
        DeviceQuestion,
        NewDeviceLogin,
    )
    from sluice.contracts.access.groups import Group, GroupList, SetGroup
    from sluice.contracts.access.owners import Share
    from sluice.contracts.access.people import (
        Account,
        AccountChange,
        AccountList,
        Me,
        NewAccount,
        NewPassword,
        NewToken,
        NewTokenSecret,
        SignInWithPassword,
        Token,
        TokenHolder,
        TokenList,
        TokenQuestion,
    )
    from sluice.contracts.access.quotas import PersonQuotas, SetQuotas
    from sluice.contracts.access.secrets import NewSecret, Sealed, Secret, SecretList
    from sluice.contracts.chains.attention import NoticeList
    from sluice.contracts.chains.chains import (
        Chain,
        ChainListState,
        ChainOutputs,
        ChainPage,
        ChainTaskList,
        RequestChain,
        RerunChain,
        RerunPlan,
    )
    from sluice.contracts.chains.client_leases import RenewClientLease, RenewedLease
    from sluice.contracts.chains.intake import TieList, UnmatchedList
    from sluice.contracts.common.states import StepState
    from sluice.contracts.data.append_only import TemplateTrigger
    from sluice.contracts.data.assets import (
        Asset,
        AssetDraft,
        AssetFile,
        AssetList,
        AssetUses,
        NewAsset,
        RemovedAsset,
        StoredAsset,
    )
    from sluice.contracts.data.datasets import Dataset, DatasetStatus, NewDataset
    from sluice.contracts.data.partial import PartialOutputs
    from sluice.contracts.jobs.logs import FollowedLog
    from sluice.contracts.jobs.steps import SetStepPriority, StepList
    from sluice.contracts.jobs.warm_workers import LoadTool
    from sluice.contracts.messaging.queue_status import (
        ChooseMessages,
        DeadMessages,
        MessagesMoved,
        QueueList,
    )
    from sluice.contracts.templates.templates import (
        CheckedTemplate,
        NewTemplate,
        Template,
        TemplateChanges,
        TemplateList,
    )
    from sluice.contracts.templates.tools import (
        ComposeTools,
        Composition,
        NewTool,
        StoredTool,
        Tool,
        ToolList,
    )


class OperatorCalls(
    ForwardedDmsCalls,
    ForwardedAskCalls,
    ForwardedChainsCalls,
    ForwardedIntakeCalls,
    ForwardedWmsCalls,
):
    """All calls."""

    async def list_assets(self) -> AssetList:
        """List assets with their versions, withdrawn ones included."""
        from sluice.contracts.data.assets import AssetList

        return await self.call("GET", f"{API}/assets", answer=AssetList)

    async def remove_asset(self, name: str, *, version: int | None = None) -> RemovedAsset:
        """Withdraw versions from new chains.

        Files are deleted when no chain needs them.

        It can raise ``NotFound``.
        """
        from sluice.contracts.data.assets import RemovedAsset

        return await self.call(
            "DELETE", build_path("assets", name), params={"version": version}, answer=RemovedAsset
        )

    async def get_asset(self, name: str) -> Asset:
        """Return the versions of an asset.

        New chains get the newest one that is not withdrawn.

        It can raise ``NotFound``.
        """
        from sluice.contracts.data.assets import Asset

        return await self.call("GET", build_path("assets", name), answer=Asset)

    async def begin_asset(self, name: str, body: NewAsset) -> AssetDraft:
        """Begin a version.

        The answer lists the files to send, or names the version that has them.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.data.assets import AssetDraft

        return await self.call(
            "POST", build_path("assets", name, "drafts"), body=body, answer=AssetDraft
        )

    async def complete_asset(self, name: str, draft: UUID) -> StoredAsset:
        """Finish a draft, which becomes the next version.

        The same files give the existing version.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.data.assets import StoredAsset

        return await self.call(
            "POST", build_path("assets", name, "drafts", str(draft)), answer=StoredAsset
        )

    async def complete_asset_file(self, name: str, draft: UUID, number: int) -> AssetFile:
        """Finish a file: join its pieces and verify its checksum.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.data.assets import AssetFile

        return await self.call(
            "POST",
            build_path("assets", name, "drafts", str(draft), "files", str(number)),
            seconds=600,
            answer=AssetFile,
        )

    async def send_asset_piece(
        self, name: str, draft: UUID, number: int, data: bytes, *, offset: int | None = None
    ) -> None:
        """Store a piece of a file, at most 8 MiB.

        It can raise ``NotFound`` and ``Conflict``.
        """
        await self.send(
            build_path("assets", name, "drafts", str(draft), "files", str(number)),
            data,
            params={"offset": offset},
            seconds=300,
        )

    async def list_asset_uses(self, name: str) -> AssetUses:
        """List which chains got which version of an asset.

        It can raise ``NotFound``.
        """
        from sluice.contracts.data.assets import AssetUses

        return await self.call("GET", build_path("assets", name, "uses"), answer=AssetUses)

    async def list_notices(self, *, limit: int | None = None) -> NoticeList:
        """List what needs attention, errors first."""
        from sluice.contracts.chains.attention import NoticeList

        return await self.call(
            "GET", f"{API}/attention", params={"limit": limit}, answer=NoticeList
        )

    async def list_audit_entries(
        self,
        *,
        who: str | None = None,
        what: str | None = None,
        object: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> AuditPage:
        """List audit events, newest first."""
        from sluice.contracts.access.audit import AuditPage

        return await self.call(
            "GET",
            f"{API}/audit",
            params={
                "who": who,
                "what": what,
                "object": object,
                "since": since,
                "until": until,
                "after": after,
                "limit": limit,
            },
            answer=AuditPage,
        )

    async def get_audit_verdicts(self) -> AuditVerdicts:
        """Verify the audit log of each service."""
        from sluice.contracts.access.audit import AuditVerdicts

        return await self.call("GET", f"{API}/audit/verdict", seconds=300, answer=AuditVerdicts)

    async def list_chains(
        self,
        *,
        after: str | None = None,
        limit: int | None = None,
        state: ChainListState | None = None,
        dataset_uid: UUID | None = None,
        name: str | None = None,
        template: str | None = None,
        owner: str | None = None,
        meta: Sequence[str] | None = None,
    ) -> ChainPage:
        """List chains that match all filters, newest first.

        It can raise ``Conflict``.
        """
        from sluice.contracts.chains.chains import ChainPage

        return await self.call(
            "GET",
            f"{API}/chains",
            params={
                "after": after,
                "limit": limit,
                "state": state,
                "dataset_uid": dataset_uid,
                "name": name,
                "template": template,
                "owner": owner,
                "meta": meta,
            },
            answer=ChainPage,
        )

    async def request_new_chain(self, body: RequestChain) -> tuple[Chain, bool]:
        """Start a chain for a data set and a template (201).

        A repetition with the same template version and parameters returns the first chain
        (200).

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.chains.chains import Chain

        return await self.create(f"{API}/chains", body=body, answer=Chain)

    async def get_chain(self, uid: UUID) -> Chain:
        """Return a chain with its steps and data sets.

        If its upload waits, the reason says why.

        It can raise ``NotFound``.
        """
        from sluice.contracts.chains.chains import Chain

        return await self.call("GET", f"{API}/chains/{uid}", answer=Chain)

    async def list_outputs(self, uid: UUID) -> ChainOutputs:
        """List the workflow outputs of a chain, each with its data set.

        It can raise ``NotFound``.
        """
        from sluice.contracts.chains.chains import ChainOutputs

        return await self.call("GET", f"{API}/chains/{uid}/outputs", answer=ChainOutputs)

    async def list_partial_outputs(self, uid: UUID) -> PartialOutputs:
        """List the outputs and logs of the steps of a chain.

        Missing ones have a reason.

        It can raise ``NotFound``.
        """
        from sluice.contracts.data.partial import PartialOutputs

        return await self.call("GET", f"{API}/chains/{uid}/partial", answer=PartialOutputs)

    async def rerun_chain(self, uid: UUID, body: RerunChain) -> tuple[Chain, bool]:
        """Rerun an ended chain as a new chain (201).

        A repetition returns the first rerun (200).

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.chains.chains import Chain

        return await self.create(f"{API}/chains/{uid}/rerun", body=body, answer=Chain)

    async def plan_rerun(self, uid: UUID, body: RerunChain) -> RerunPlan:
        """Return the plan of a rerun of a chain.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.chains.chains import RerunPlan

        return await self.call(
            "POST", f"{API}/chains/{uid}/rerun/plan", body=body, answer=RerunPlan
        )

    async def end_client_lease(self, uid: UUID) -> None:
        """Delete a lease.

        Its chains, data sets and templates stay.

        It can raise ``NotFound``.
        """
        await self.call("DELETE", f"{API}/client-leases/{uid}")

    async def renew_client_lease(self, uid: UUID, body: RenewClientLease) -> RenewedLease:
        """Create or renew the lease of a waiting client.

        When it expires, its chains are canceled, and their data and its data sets and run
        templates are deleted.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.chains.client_leases import RenewedLease

        return await self.call("PUT", f"{API}/client-leases/{uid}", body=body, answer=RenewedLease)

    async def register_dataset(self, body: NewDataset) -> Dataset:
        """Register a data set.

        It can raise ``Conflict``.
        """
        from sluice.contracts.data.datasets import Dataset

        return await self.call("POST", f"{API}/datasets", body=body, answer=Dataset)

    async def share_dataset(self, uid: UUID, body: Share) -> Dataset:
        """Set the owner group of a data set, and the other groups that see it.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.data.datasets import Dataset

        return await self.call("PUT", f"{API}/datasets/{uid}/share", body=body, answer=Dataset)

    async def get_dataset_status(self, uid: UUID) -> DatasetStatus:
        """Return the progress of a data set, and what it or its chain waits for.

        It can raise ``NotFound``.
        """
        from sluice.contracts.data.datasets import DatasetStatus

        return await self.call("GET", f"{API}/datasets/{uid}/status", answer=DatasetStatus)

    async def begin_device_login(self, body: NewDeviceLogin) -> DeviceLogin:
        """Begin the sign-in of a command by a browser on any machine (RFC 8628)."""
        from sluice.contracts.access.device_login import DeviceLogin

        return await self.call(
            "POST", f"{API}/device-logins", retry=False, body=body, answer=DeviceLogin
        )

    async def get_device_login(self, body: DeviceQuestion) -> DeviceAnswer:
        """Return the token of a command, once, after somebody has allowed its sign-in.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.access.device_login import DeviceAnswer

        return await self.call(
            "POST", f"{API}/device-logins/answers", body=body, answer=DeviceAnswer
        )

    async def list_groups(self) -> GroupList:
        """List the caller's groups with their members, fair share, usage and quotas."""
        from sluice.contracts.access.groups import GroupList

        return await self.call("GET", f"{API}/groups", answer=GroupList)

    async def set_group(self, group: str, body: SetGroup) -> Group:
        """Set the weight and the quotas of a group.

        `none` removes a quota.

        It can raise ``NotFound``.
        """
        from sluice.contracts.access.groups import Group

        return await self.call("PATCH", build_path("groups", group), body=body, answer=Group)

    async def get_live_log(self, job: int) -> FollowedLog:
        """Return the end of the output of a running job, by stream, in Base64.

        It can raise ``NotFound``.
        """
        from sluice.contracts.jobs.logs import FollowedLog

        return await self.call("GET", f"{API}/jobs/{job}/log/live", answer=FollowedLog)

    async def get_own_account(self) -> Me:
        """Return the caller's account."""
        from sluice.contracts.access.people import Me

        return await self.call("GET", f"{API}/me", answer=Me)

    async def change_password(self, body: NewPassword) -> Account:
        """Change the caller's password.

        The caller's sessions end.
        """
        from sluice.contracts.access.people import Account

        return await self.call("PUT", f"{API}/me/password", retry=False, body=body, answer=Account)

    async def end_sessions(self) -> None:
        """End the caller's sessions in all browsers.

        Tokens stay.
        """
        await self.call("DELETE", f"{API}/me/sessions")

    async def list_accounts(self) -> AccountList:
        """List accounts."""
        from sluice.contracts.access.people import AccountList

        return await self.call("GET", f"{API}/people", answer=AccountList)

    async def add_account(self, body: NewAccount) -> Account:
        """Create an account.

        It can raise ``Conflict``.
        """
        from sluice.contracts.access.people import Account

        return await self.call("POST", f"{API}/people", retry=False, body=body, answer=Account)

    async def change_account(self, name: str, body: AccountChange) -> Account:
        """Change the role, groups or password of an account, or disable or enable it.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.access.people import Account

        return await self.call("PATCH", build_path("people", name), body=body, answer=Account)

    async def get_person_quotas(self, name: str) -> PersonQuotas:
        """Return the usage and the quotas of a person.

        Those of others are for administrators.

        It can raise ``NotFound``.
        """
        from sluice.contracts.access.quotas import PersonQuotas

        return await self.call("GET", build_path("people", name, "quotas"), answer=PersonQuotas)

    async def set_person_quotas(self, name: str, body: SetQuotas) -> PersonQuotas:
        """Set the quotas of a person.

        `none` removes a quota.

        It can raise ``NotFound``.
        """
        from sluice.contracts.access.quotas import PersonQuotas

        return await self.call(
            "PATCH", build_path("people", name, "quotas"), body=body, answer=PersonQuotas
        )

    async def load_tool(self, uid: UUID, body: LoadTool) -> None:
        """Let a pilot take jobs of a step first, to load the step's tool there.

        A step that no template and no task has is refused.

        It can raise ``NotFound`` and ``Conflict``.
        """
        await self.call("PUT", f"{API}/pilots/{uid}/load", body=body)

    async def compose(self, body: ComposeTools) -> Composition:
        """Compose a workflow of tools in the library, and publish it on request.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.templates.tools import Composition

        return await self.call("POST", f"{API}/pipelines/compose", body=body, answer=Composition)

    async def list_queues(self) -> QueueList:
        """List the queues between services, with their waiting messages and dead letters."""
        from sluice.contracts.messaging.queue_status import QueueList

        return await self.call("GET", f"{API}/queues", answer=QueueList)

    async def list_dead_messages(self, queue: str, *, limit: int | None = None) -> DeadMessages:
        """List the oldest dead letters of a queue, each with its reason.

        It can raise ``NotFound``.
        """
        from sluice.contracts.messaging.queue_status import DeadMessages

        return await self.call(
            "GET", build_path("queues", queue, "dead"), params={"limit": limit}, answer=DeadMessages
        )

    async def drop(self, queue: str, body: ChooseMessages) -> MessagesMoved:
        """Delete dead letters permanently.

        It can raise ``NotFound``.
        """
        from sluice.contracts.messaging.queue_status import MessagesMoved

        return await self.call(
            "POST", build_path("queues", queue, "drop"), body=body, answer=MessagesMoved
        )

    async def requeue(self, queue: str, body: ChooseMessages) -> MessagesMoved:
        """Requeue dead letters, as if they were sent again.

        It can raise ``NotFound``.
        """
        from sluice.contracts.messaging.queue_status import MessagesMoved

        return await self.call(
            "POST", build_path("queues", queue, "requeue"), body=body, answer=MessagesMoved
        )

    async def list_run_templates(
        self, *, limit: int | None = None, after: UUID | None = None
    ) -> TemplateList:
        """List templates that came with runs, the most recent run first.

        It can raise ``NotFound``.
        """
        from sluice.contracts.templates.templates import TemplateList

        return await self.call(
            "GET",
            f"{API}/run-templates",
            params={"limit": limit, "after": after},
            answer=TemplateList,
        )

    async def store_run_template(
        self, body: NewTemplate, *, name: str | None = None, main: str | None = None
    ) -> Template:
        """Store a template for a run, with which no data set is matched.

        If the same files are stored, the answer is 200.
        """
        from sluice.contracts.templates.templates import Template

        return await self.call(
            "POST",
            f"{API}/run-templates",
            params={"name": name, "main": main},
            body=body,
            answer=Template,
        )

    async def delete_run_template(self, template_id: UUID) -> None:
        """Remove a template that came with a run from the list.

        Its chains continue.

        It can raise ``NotFound``.
        """
        await self.call("DELETE", f"{API}/run-templates/{template_id}")

    async def get_run_template(self, template_id: UUID) -> Template:
        """Return a template that came with a run, with its files.

        It can raise ``NotFound``.
        """
        from sluice.contracts.templates.templates import Template

        return await self.call("GET", f"{API}/run-templates/{template_id}", answer=Template)

    async def open_secrets(self, body: Sealed) -> Sealed:
        """Return secrets of a job to the WMS.

        Request and answer are encrypted with the services' key.

        It can raise ``Conflict``.
        """
        from sluice.contracts.access.secrets import Sealed

        return await self.call("POST", f"{API}/sealed-secrets", body=body, answer=Sealed)

    async def list_secrets(self) -> SecretList:
        """List secrets with their versions and the templates that may use them."""
        from sluice.contracts.access.secrets import SecretList

        return await self.call("GET", f"{API}/secrets", answer=SecretList)

    async def set_secret(self, body: NewSecret) -> Secret:
        """Store a value, encrypted, as the next version of a secret.

        No route returns it.

        It can raise ``Conflict``.
        """
        from sluice.contracts.access.secrets import Secret

        return await self.call("POST", f"{API}/secrets", retry=False, body=body, answer=Secret)

    async def remove_secret(self, name: str, *, version: int | None = None) -> None:
        """Permanently remove a secret, or one version of it.

        It can raise ``NotFound``.
        """
        await self.call("DELETE", build_path("secrets", name), params={"version": version})

    async def get_secret(self, name: str, *, template_id: UUID | None = None) -> Secret:
        """Return the versions of a secret and the templates that may use them.

        It can raise ``NotFound``.
        """
        from sluice.contracts.access.secrets import Secret

        return await self.call(
            "GET", build_path("secrets", name), params={"template_id": template_id}, answer=Secret
        )

    async def sign_in(self, body: SignInWithPassword) -> NewTokenSecret:
        """Create a token for a name and a password.

        It can raise ``Conflict``.
        """
        from sluice.contracts.access.people import NewTokenSecret

        return await self.call(
            "POST", f"{API}/sign-in", retry=False, body=body, answer=NewTokenSecret
        )

    async def list_steps(self) -> StepList:
        """List steps of published templates and other steps with tasks: waiting jobs, mean times
        and priorities.
        """
        from sluice.contracts.jobs.steps import StepList

        return await self.call("GET", f"{API}/steps", answer=StepList)

    async def prioritise_step(self, step: str, body: SetStepPriority) -> StepList:
        """Set the priority of a step over all chains.

        A priority of 0 or more is added to the ranks of its tasks. With -1 no job of it is
        leased, and running jobs finish.

        It can raise ``NotFound``.
        """
        from sluice.contracts.jobs.steps import StepList

        return await self.call(
            "PUT", build_path("steps", step, "priority"), body=body, answer=StepList
        )

    async def list_tasks(
        self,
        *,
        chain_uid: UUID | None = None,
        name: str | None = None,
        state: StepState | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> ChainTaskList:
        """List tasks with their numbers of jobs, newest first.

        `name` is DATASET.STEP.
        """
        from sluice.contracts.chains.chains import ChainTaskList

        return await self.call(
            "GET",
            f"{API}/tasks",
            params={
                "chain_uid": chain_uid,
                "name": name,
                "state": state,
                "after": after,
                "limit": limit,
            },
            answer=ChainTaskList,
        )

    async def list_templates(
        self, *, all: bool | None = None, disabled: bool | None = None
    ) -> TemplateList:
        """List the latest version of every enabled template with its CWL text, or every version
        without texts.
        """
        from sluice.contracts.templates.templates import TemplateList

        return await self.call(
            "GET",
            f"{API}/templates",
            params={"all": all, "disabled": disabled},
            answer=TemplateList,
        )

    async def store_template(
        self, body: NewTemplate, *, name: str | None = None, main: str | None = None
    ) -> Template:
        """Store a template.

        If its latest version has the same files, the answer is 200.

        It can raise ``Conflict``.
        """
        from sluice.contracts.templates.templates import Template

        return await self.call(
            "POST",
            f"{API}/templates",
            params={"name": name, "main": main},
            body=body,
            answer=Template,
        )

    async def check_template(
        self,
        *,
        cwl: str | None = None,
        files: dict[str, Any] | None = None,
        main: str | None = None,
        file: str = "workflow.cwl",
    ) -> CheckedTemplate:
        """Check a template without storing it."""
        from sluice.contracts.templates.templates import CheckedTemplate, CheckTemplate

        return await self.call(
            "POST",
            f"{API}/templates/check",
            body=CheckTemplate(cwl=cwl, files=files, main=main, file=file),
            answer=CheckedTemplate,
        )

    async def compare_template(
        self, body: NewTemplate, *, name: str | None = None, main: str | None = None
    ) -> TemplateChanges:
        """Return what storing a template would change, without storing it."""
        from sluice.contracts.templates.templates import TemplateChanges

        return await self.call(
            "POST",
            f"{API}/templates/compare",
            params={"name": name, "main": main},
            body=body,
            answer=TemplateChanges,
        )

    async def delete_template(self, name: str, *, force: bool | None = None) -> None:
        """Delete all versions of a template, so that they match nothing.

        Running chains continue.

        It can raise ``NotFound`` and ``Conflict``.
        """
        await self.call("DELETE", build_path("templates", name), params={"force": force})

    async def get_template(self, name: str, *, version: int | None = None) -> Template:
        """Return a template with its files, as written and as one JSON document.

        It can raise ``NotFound``.
        """
        from sluice.contracts.templates.templates import Template

        return await self.call(
            "GET", build_path("templates", name), params={"version": version}, answer=Template
        )

    async def disable_template(self, name: str) -> Template:
        """Disable a template, so that no data set goes through it.

        Running chains continue.

        It can raise ``NotFound``.
        """
        from sluice.contracts.templates.templates import Template

        return await self.call("POST", build_path("templates", name, "disable"), answer=Template)

    async def enable_template(self, name: str) -> Template:
        """Enable a template, so that new data sets are matched with it again.

        It can raise ``NotFound``.
        """
        from sluice.contracts.templates.templates import Template

        return await self.call("POST", build_path("templates", name, "enable"), answer=Template)

    async def restore_template(self, name: str, *, version: int) -> Template:
        """Make an old version the latest again.

        If it is the latest, the answer is 200.

        It can raise ``NotFound``.
        """
        from sluice.contracts.templates.templates import RestoreTemplate, Template

        return await self.call(
            "POST",
            build_path("templates", name, "restore"),
            body=RestoreTemplate(version=version),
            answer=Template,
        )

    async def share_template(self, name: str, body: Share) -> Template:
        """Set the owner group of a template, and the other groups that see it.

        Others no longer see it.

        It can raise ``NotFound``.
        """
        from sluice.contracts.templates.templates import Template

        return await self.call(
            "PUT", build_path("templates", name, "share"), body=body, answer=Template
        )

    async def get_template_trigger(self, name: str) -> TemplateTrigger:
        """Return the trigger of a template, with its last and next times.

        It can raise ``NotFound``.
        """
        from sluice.contracts.data.append_only import TemplateTrigger

        return await self.call(
            "GET", build_path("templates", name, "trigger"), answer=TemplateTrigger
        )

    async def list_ties(self) -> TieList:
        """List templates of equal priority that match the same data sets."""
        from sluice.contracts.chains.intake import TieList

        return await self.call("GET", f"{API}/ties", answer=TieList)

    async def find_token_holder(self, body: TokenQuestion) -> TokenHolder:
        """Return the owner of a token to a service that received it."""
        from sluice.contracts.access.people import TokenHolder

        return await self.call("POST", f"{API}/token-holders", body=body, answer=TokenHolder)

    async def revoke_found_token(self, body: TokenQuestion) -> None:
        """Revoke the token in the request.

        Anyone who has it may do so (RFC 7009).
        """
        await self.call("POST", f"{API}/token-revocations", body=body)

    async def list_tokens(
        self, *, all: bool | None = None, ended: bool | None = None, person: str | None = None
    ) -> TokenList:
        """List the caller's tokens.

        Administrators may list those of others.
        """
        from sluice.contracts.access.people import TokenList

        return await self.call(
            "GET",
            f"{API}/tokens",
            params={"all": all, "ended": ended, "person": person},
            answer=TokenList,
        )

    async def create_token(self, body: NewToken) -> NewTokenSecret:
        """Create a token with at most the caller's rights, and return it this once.

        It can raise ``NotFound`` and ``Conflict``.
        """
        from sluice.contracts.access.people import NewTokenSecret

        return await self.call(
            "POST", f"{API}/tokens", retry=False, body=body, answer=NewTokenSecret
        )

    async def revoke_token(self, token: UUID) -> Token:
        """Revoke a token.

        It can raise ``NotFound``.
        """
        from sluice.contracts.access.people import Token

        return await self.call("DELETE", f"{API}/tokens/{token}", answer=Token)

    async def list_tools(self) -> ToolList:
        """List the newest version of every tool in the library."""
        from sluice.contracts.templates.tools import ToolList

        return await self.call("GET", f"{API}/tools", answer=ToolList)

    async def store_tool(self, body: NewTool) -> StoredTool:
        """Store a CommandLineTool as the next version of a tool in the library."""
        from sluice.contracts.templates.tools import StoredTool

        return await self.call("POST", f"{API}/tools", body=body, answer=StoredTool)

    async def remove_tool(self, name: str, *, version: int | None = None) -> None:
        """Remove a tool, or one version of it.

        Templates composed of it stay.

        It can raise ``NotFound``.
        """
        await self.call("DELETE", build_path("tools", name), params={"version": version})

    async def get_tool(self, name: str, *, version: int | None = None) -> Tool:
        """Return a tool with its text.

        It can raise ``NotFound``.
        """
        from sluice.contracts.templates.tools import Tool

        return await self.call(
            "GET", build_path("tools", name), params={"version": version}, answer=Tool
        )

    async def list_tool_versions(self, name: str) -> ToolList:
        """List the versions of a tool.

        It can raise ``NotFound``.
        """
        from sluice.contracts.templates.tools import ToolList

        return await self.call("GET", build_path("tools", name, "versions"), answer=ToolList)

    async def list_unmatched(
        self, *, limit: int | None = None, template: str | None = None
    ) -> UnmatchedList:
        """List data sets that matched no template, with the reasons of today's templates."""
        from sluice.contracts.chains.intake import UnmatchedList

        return await self.call(
            "GET",
            f"{API}/unmatched",
            params={"limit": limit, "template": template},
            answer=UnmatchedList,
        )
