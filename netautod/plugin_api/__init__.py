"""The public package for plugin authors: everything that a plugin may import from netautod.

A plugin is a package with an entry point in the group `netautod`; it implements hooks of
`netautod.plugin_api.hookspecs` with `@hookimpl`. What it registers has async methods; see `Executor`,
and `BlockingExecutor` for one whose work blocks.
"""

import pluggy

from netautod.core.loop.each import for_each
from netautod.core.networks import is_this_machine
from netautod.outbound.client import GuardedClient, OutboundAnswer, OutboundRequest, TlsPolicy
from netautod.outbound.errors import AddressRefused, RequestFailed
from netautod.outbound.urls import origin_of
from netautod.plugin_api.auth import (
    AccountEnded,
    AuthProvider,
    Identity,
    KnownUser,
    LoginEnded,
    LoginRefused,
    Lookup,
    LookupOf,
    LookupProvider,
    PasswordProvider,
    ProbeResult,
    ProviderUnavailable,
    ProvisioningRules,
    RedirectAttempt,
    RedirectProvider,
    RedirectRules,
    RoleMap,
)
from netautod.plugin_api.blocking import (
    BlockingExecutor,
    RunEnded,
    SyncActing,
    SyncHttp,
    SyncResults,
    SyncRunContext,
)
from netautod.plugin_api.events import BackupStale, ConfigChanged, CredentialSuspended, FinishedExecution
from netautod.plugin_api.executors import (
    Acting,
    ApprovalDecision,
    CaptureOutcome,
    CommandOutcome,
    DeviceInfo,
    DeviceResult,
    ExecutionFailed,
    ExecutionInfo,
    Executor,
    NeedsApproval,
    PermanentFailure,
    Results,
    ResultTotals,
    RunContext,
)
from netautod.plugin_api.hookspecs import PROJECT
from netautod.plugin_api.host import PluginHost, PluginService
from netautod.plugin_api.inventory import (
    IncompleteWalk,
    InventoryAccess,
    InventoryFailed,
    InventoryPage,
    InventoryProbe,
    InventorySource,
    OpenInventory,
    RemoteDevice,
    RemoteProblem,
)
from netautod.plugin_api.settings import RiskRule, SettingsError, setting
from netautod.ssh.failures import DeviceFailed

__all__ = [
    "AccountEnded",
    "Acting",
    "AddressRefused",
    "ApprovalDecision",
    "AuthProvider",
    "BackupStale",
    "BlockingExecutor",
    "CaptureOutcome",
    "CommandOutcome",
    "ConfigChanged",
    "CredentialSuspended",
    "DeviceFailed",
    "DeviceInfo",
    "DeviceResult",
    "ExecutionFailed",
    "ExecutionInfo",
    "Executor",
    "FinishedExecution",
    "GuardedClient",
    "Identity",
    "IncompleteWalk",
    "InventoryAccess",
    "InventoryFailed",
    "InventoryPage",
    "InventoryProbe",
    "InventorySource",
    "KnownUser",
    "LoginEnded",
    "LoginRefused",
    "Lookup",
    "LookupOf",
    "LookupProvider",
    "NeedsApproval",
    "OpenInventory",
    "OutboundAnswer",
    "OutboundRequest",
    "PasswordProvider",
    "PermanentFailure",
    "PluginHost",
    "PluginService",
    "ProbeResult",
    "ProviderUnavailable",
    "ProvisioningRules",
    "RedirectAttempt",
    "RedirectProvider",
    "RedirectRules",
    "RemoteDevice",
    "RemoteProblem",
    "RequestFailed",
    "ResultTotals",
    "Results",
    "RiskRule",
    "RoleMap",
    "RunContext",
    "RunEnded",
    "SettingsError",
    "SyncActing",
    "SyncHttp",
    "SyncResults",
    "SyncRunContext",
    "TlsPolicy",
    "for_each",
    "hookimpl",
    "is_this_machine",
    "origin_of",
    "setting",
]

hookimpl = pluggy.HookimplMarker(PROJECT)
