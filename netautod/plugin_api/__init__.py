"""The public package for plugin authors: everything that a plugin may import from netautod.

A plugin is a package with an entry point in the group `netautod`; it implements hooks of
`netautod.plugin_api.hookspecs` with `@hookimpl`. What it registers has async methods; see `Executor`,
and `BlockingExecutor` for one whose work blocks.
"""

import pluggy

from netautod.core.device_addresses import ip_address, mac_address
from netautod.core.device_texts import device_text
from netautod.core.interface_names import long_name
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
from netautod.plugin_api.collectors import (
    Channel,
    CliReader,
    Collector,
    HttpReply,
    PollTarget,
    SnmpAccess,
    SnmpUser,
)
from netautod.plugin_api.discovered import (
    TABLES,
    ArpEntry,
    Collected,
    DeviceFacts,
    Interface,
    InterfaceAddress,
    InterfaceCounters,
    MacEntry,
    Neighbor,
    Table,
    Vlan,
)
from netautod.plugin_api.events import (
    BackupStale,
    ConfigChanged,
    CredentialSuspended,
    DeviceChanged,
    FinishedExecution,
)
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
    "TABLES",
    "AccountEnded",
    "Acting",
    "AddressRefused",
    "ApprovalDecision",
    "ArpEntry",
    "AuthProvider",
    "BackupStale",
    "BlockingExecutor",
    "CaptureOutcome",
    "Channel",
    "CliReader",
    "Collected",
    "Collector",
    "CommandOutcome",
    "ConfigChanged",
    "CredentialSuspended",
    "DeviceChanged",
    "DeviceFacts",
    "DeviceFailed",
    "DeviceInfo",
    "DeviceResult",
    "ExecutionFailed",
    "ExecutionInfo",
    "Executor",
    "FinishedExecution",
    "GuardedClient",
    "HttpReply",
    "Identity",
    "IncompleteWalk",
    "Interface",
    "InterfaceAddress",
    "InterfaceCounters",
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
    "MacEntry",
    "NeedsApproval",
    "Neighbor",
    "OpenInventory",
    "OutboundAnswer",
    "OutboundRequest",
    "PasswordProvider",
    "PermanentFailure",
    "PluginHost",
    "PluginService",
    "PollTarget",
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
    "SnmpAccess",
    "SnmpUser",
    "SyncActing",
    "SyncHttp",
    "SyncResults",
    "SyncRunContext",
    "Table",
    "TlsPolicy",
    "Vlan",
    "device_text",
    "for_each",
    "hookimpl",
    "ip_address",
    "is_this_machine",
    "long_name",
    "mac_address",
    "origin_of",
    "setting",
]

hookimpl = pluggy.HookimplMarker(PROJECT)
