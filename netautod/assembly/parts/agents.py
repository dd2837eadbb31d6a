"""The part of the composition root about agents: their tools, their desks, and who reads what they did."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from netautod.activity.audit.service import AuditLog
from netautod.assembly.acting.run_services import DeskFactory
from netautod.assembly.data.stores import Stores
from netautod.assembly.parts.devices import DeviceParts
from netautod.assembly.parts.operations import DeviceOperations
from netautod.automation.agents.approvals import approval_of
from netautod.automation.agents.briefing import Briefing
from netautod.automation.agents.changes.service import ConfigChanges
from netautod.automation.agents.desk import Desk
from netautod.automation.agents.runs import AgentServices, RunOf
from netautod.automation.agents.service import AgentService
from netautod.automation.agents.tools.configs import Configs, ConfigTools
from netautod.automation.agents.tools.contract import Tool, Toolbox
from netautod.automation.agents.tools.documents import DocumentTools
from netautod.automation.agents.tools.executions import ExecutionTools
from netautod.automation.agents.tools.inventory import Discovery, InventoryTools
from netautod.automation.agents.tools.visits import VisitTools
from netautod.automation.executions.models import Execution
from netautod.automation.executions.running.environment import Owners
from netautod.core.clock import Clock
from netautod.core.work.context import Work
from netautod.documents.service import DocumentService
from netautod.plugin_api import Acting, AgentTool, ModelBackend
from netautod.transport.outbound.client import GuardedClient
from netautod.transport.ssh.platform.redact import redact


@dataclass(frozen=True, kw_only=True)
class AgentParts:
    """`desk` is for the executors, `agents` for the handlers."""

    desk: DeskFactory
    agents: AgentService


def agents_of(
    *,
    stores: Stores,
    clock: Clock,
    audit: AuditLog,
    owners: Owners,
    devices: DeviceParts,
    operations: DeviceOperations,
    configs: Configs,
    discovery: Discovery,
    documents: DocumentService,
    models: Mapping[str, ModelBackend],
    tools: Mapping[str, AgentTool],
    http: GuardedClient,
) -> AgentParts:
    """`models` and `tools` are those of plugins; of the models the first is used."""
    platforms = operations.sessions.platforms
    own = _tools(
        InventoryTools(devices=devices.devices, discovery=discovery),
        ConfigTools(devices=devices.devices, configs=configs),
        DocumentTools(documents),
        ExecutionTools(
            executions=stores.executions, results=stores.execution_results, logs=stores.execution_logs
        ),
        VisitTools(
            devices=devices.devices,
            commands=operations.commands,
            tests=operations.tests,
            platforms=platforms,
        ),
        ConfigChanges(
            devices=devices.devices,
            credentials=devices.credentials,
            sessions=operations.sessions,
            configs=configs,
            audit=audit,
        ),
    )
    services = AgentServices(
        model=next(iter(models.values()), None),
        tools={**own, **tools},
        transcripts=stores.agent_transcripts,
        owner=owners.active_caller,
        acting=_nobody,
        briefing=Briefing(devices=devices.devices, organizations=stores.organizations).of,
        begin_change=stores.agent_changes.begin,
        mark_unclear=stores.executions.mark_unclear,
        redact=lambda text: redact(text, platforms.of_readers),
        http=http,
        clock=clock,
    )
    return AgentParts(
        desk=partial(_desk, services),
        agents=AgentService(transcripts=stores.agent_transcripts, platforms=platforms, model=services.model),
    )


def _desk(
    services: AgentServices, work: Work, execution: Execution, acting: Callable[[Work], Acting]
) -> Desk:
    run = RunOf(
        execution_id=execution.id,
        owner_id=execution.owner_id,
        scope=execution.scope,
        approval=approval_of(execution.approval_request, execution.approval),
    )
    return Desk(services=replace(services, acting=acting), work=work, run=run.restored(execution.resume))


def _nobody(work: Work) -> Acting:
    raise AssertionError("a desk has the services of its own run")


def _tools(*boxes: Toolbox) -> dict[str, Tool]:
    found: Sequence[Tool] = [tool for box in boxes for tool in box.tools()]
    return {tool.name: tool for tool in found}
