"""The agents: their tools, the desks at which they work in runs, and the service of their transcripts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from netautod.assembly.acting.run_services import DeskFactory
from netautod.assembly.base import Base
from netautod.assembly.network.device_services import DeviceServices
from netautod.automation.agents.approvals import approval_of
from netautod.automation.agents.briefing import Briefing
from netautod.automation.agents.changes.service import ConfigChanges
from netautod.automation.agents.desk import Desk
from netautod.automation.agents.runs import AgentServices, DeskRun
from netautod.automation.agents.service import AgentService
from netautod.automation.agents.tools.configs import ConfigTools
from netautod.automation.agents.tools.contract import Tool, Toolbox
from netautod.automation.agents.tools.documents import DocumentTools
from netautod.automation.agents.tools.executions import ExecutionTools
from netautod.automation.agents.tools.inventory import InventoryTools
from netautod.automation.agents.tools.visits import VisitTools
from netautod.automation.executions.models import Execution
from netautod.core.work.context import Work
from netautod.documents.service import DocumentService
from netautod.network.discovery.service import DiscoveryService
from netautod.plugin_api import Acting
from netautod.transport.ssh.platform.redact import redact


@dataclass(frozen=True, kw_only=True)
class Agents:
    """The agents of a node: `desk` is for the executors, `service` for the handlers."""

    desk: DeskFactory
    service: AgentService


def build_agents(
    base: Base, network: DeviceServices, discovery: DiscoveryService, documents: DocumentService
) -> Agents:
    """Build the agents with the tools of plugins; of the models of plugins the first is used."""
    stores, devices, platforms = base.stores, network.devices.devices, network.operations.platforms
    services = AgentServices(
        model=next(iter(base.plugins.models().values()), None),
        tools={**_tools(base, network, discovery, documents), **base.plugins.tools()},
        transcripts=stores.agent_transcripts,
        owner=base.people.users.active_caller,
        acting=_no_acting,
        briefing=Briefing(devices=devices, organizations=stores.organizations).of,
        begin_change=stores.agent_changes.begin,
        mark_unclear=stores.executions.mark_unclear,
        redact=lambda text: redact(text, platforms.for_readers),
        http=base.http,
        clock=base.clock,
    )
    return Agents(
        desk=partial(_desk, services),
        service=AgentService(transcripts=stores.agent_transcripts, platforms=platforms, model=services.model),
    )


def _desk(
    services: AgentServices, work: Work, execution: Execution, acting: Callable[[Work], Acting]
) -> Desk:
    run = DeskRun(
        execution_id=execution.id,
        owner_id=execution.owner_id,
        scope=execution.scope,
        approval=approval_of(execution.approval_request, execution.approval),
    )
    return Desk(services=replace(services, acting=acting), work=work, run=run.restored(execution.resume))


def _no_acting(work: Work) -> Acting:
    raise AssertionError("a desk has the services of its own run")


def _tools(
    base: Base, network: DeviceServices, discovery: DiscoveryService, documents: DocumentService
) -> dict[str, Tool]:
    stores, devices = base.stores, network.devices.devices
    operations, configs = network.operations, network.configs.service
    boxes: Sequence[Toolbox] = (
        InventoryTools(devices=devices, discovery=discovery),
        ConfigTools(devices=devices, configs=configs),
        DocumentTools(documents),
        ExecutionTools(
            executions=stores.executions, results=stores.execution_results, logs=stores.execution_logs
        ),
        VisitTools(
            devices=devices,
            commands=operations.commands,
            tests=operations.tests,
            platforms=operations.platforms,
        ),
        ConfigChanges(
            devices=devices,
            credentials=network.devices.credentials,
            sessions=operations.sessions,
            configs=configs,
            audit=base.audit,
        ),
    )
    return {tool.name: tool for box in boxes for tool in box.tools()}
