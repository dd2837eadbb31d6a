"""The part of the composition root about the system: its status, its pauses, its capabilities."""

from collections.abc import Mapping, Sequence

from netautod.activity.audit.service import AuditLog
from netautod.assembly.data.stores import Stores
from netautod.automation.executions.settings import SchedulerSettings
from netautod.automation.executions.upkeep.paused_ticks import HeldTicks
from netautod.automation.system.capabilities.service import Capabilities
from netautod.automation.system.pauses import FollowedPauses
from netautod.automation.system.service import Lookout, Plugins, SystemService
from netautod.core.clock import Clock
from netautod.core.identity.permissions import PermissionKeys
from netautod.core.metrics import Metrics
from netautod.core.settings.risks import Risk
from netautod.identity.auth.providers.registry import Providers

# Which features of system/capabilities there always are.
INSTALLED: Mapping[str, bool] = {
    "scheduled_tasks": True,
    "rbac": True,
    "shared_docs": True,
    "audit_logging": True,
}


def capabilities_of(
    instance_name: str, providers: Providers, permissions: PermissionKeys, *, has_model: bool
) -> Capabilities:
    """`has_model`: whether a model back end is configured for agents."""
    installed = {**INSTALLED, "central_ai": has_model}
    return Capabilities(
        instance_name=instance_name, providers=providers, installed=installed, permissions=permissions
    )


def system_of(
    *,
    stores: Stores,
    clock: Clock,
    audit: AuditLog,
    plugins: Plugins,
    pauses: FollowedPauses,
    metrics: Metrics,
    schedule: SchedulerSettings,
    risks: Sequence[Risk],
    lookouts: Sequence[Lookout] = (),
) -> SystemService:
    return SystemService(
        store=stores.system,
        clock=clock,
        audit=audit,
        plugins=plugins,
        pauses=pauses,
        pending=stores.executions.pending,
        polls=stores.polls.waiting_of,
        held=HeldTicks(store=stores.executions, clock=clock, metrics=metrics, settings=schedule),
        risks=risks,
        lookouts=lookouts,
    )
