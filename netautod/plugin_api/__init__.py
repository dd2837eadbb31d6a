"""The public package for plugin authors: everything that a plugin may import from netautod.

A plugin is a package with an entry point in the group `netautod`; it implements hooks of
`netautod.plugin_api.hookspecs` with `@hookimpl`. What it registers has async methods; see `Executor`,
and `BlockingExecutor` for one whose work blocks.
"""

import pluggy

from netautod.core.clock import Clock
from netautod.core.errors import Conflict, Forbidden, InvalidInput, NotFound, Unavailable, UpstreamFailed
from netautod.core.loop.each import for_each
from netautod.core.net.device_addresses import ip_address, mac_address
from netautod.core.net.interface_names import long_name
from netautod.core.net.networks import is_this_machine
from netautod.core.text.csv_rows import csv_text
from netautod.core.text.device_texts import device_text
from netautod.plugin_api.acting import (
    BackupState,
    CaptureOutcome,
    CommandOutcome,
    DeviceInfo,
    UserServices,
)
from netautod.plugin_api.agents import (
    AgentDesk,
    ApprovalWanted,
    ModelBackend,
    ModelFailed,
    ModelMessage,
    ModelReply,
    ToolCall,
    ToolDescription,
    TranscriptEvent,
)
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
from netautod.plugin_api.commands import CommandContext, PluginCommand
from netautod.plugin_api.declared import ContentType, EventType, PluginPermission
from netautod.plugin_api.discovery.collectors import (
    Channel,
    CliReader,
    Collector,
    HttpReply,
    PollTarget,
    SnmpAccess,
    SnmpUser,
)
from netautod.plugin_api.discovery.rows import (
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
from netautod.plugin_api.executors.blocking import (
    BlockingExecutor,
    RunEnded,
    SyncActing,
    SyncHttp,
    SyncResults,
    SyncRunContext,
)
from netautod.plugin_api.executors.contract import (
    Acting,
    ApprovalDecision,
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
from netautod.plugin_api.host import PluginHost, PluginService, Publish
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
from netautod.plugin_api.routes import ANY_TOKEN, PUBLIC, PluginRoute, RequestCaller, RouteRequest
from netautod.plugin_api.settings import RiskRule, SettingsError, setting
from netautod.plugin_api.storage import (
    PluginStorage,
    StorageFull,
    StorageRefused,
    StorageUsage,
    StoredValue,
)
from netautod.plugin_api.tools import (
    AgentTool,
    ToolContext,
    ToolOutcome,
    ToolPlan,
    WritingTool,
)
from netautod.plugin_api.version import VERSION, PluginApiDeprecation
from netautod.transport.outbound.client import GuardedClient, OutboundAnswer, OutboundRequest, TlsPolicy
from netautod.transport.outbound.errors import AddressRefused, RequestFailed
from netautod.transport.outbound.retries import asked_pause, retry_pause
from netautod.transport.outbound.signed import SignedMessage
from netautod.transport.outbound.urls import origin_of
from netautod.transport.ssh.failures import DeviceFailed

__all__ = [
    "ANY_TOKEN",
    "PUBLIC",
    "TABLES",
    "VERSION",
    "AccountEnded",
    "Acting",
    "AddressRefused",
    "AgentDesk",
    "AgentTool",
    "ApprovalDecision",
    "ApprovalWanted",
    "ArpEntry",
    "AuthProvider",
    "BackupStale",
    "BackupState",
    "BlockingExecutor",
    "CaptureOutcome",
    "Channel",
    "CliReader",
    "Clock",
    "Collected",
    "Collector",
    "CommandContext",
    "CommandOutcome",
    "ConfigChanged",
    "Conflict",
    "ContentType",
    "CredentialSuspended",
    "DeviceChanged",
    "DeviceFacts",
    "DeviceFailed",
    "DeviceInfo",
    "DeviceResult",
    "EventType",
    "ExecutionFailed",
    "ExecutionInfo",
    "Executor",
    "FinishedExecution",
    "Forbidden",
    "GuardedClient",
    "HttpReply",
    "Identity",
    "IncompleteWalk",
    "Interface",
    "InterfaceAddress",
    "InterfaceCounters",
    "InvalidInput",
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
    "ModelBackend",
    "ModelFailed",
    "ModelMessage",
    "ModelReply",
    "NeedsApproval",
    "Neighbor",
    "NotFound",
    "OpenInventory",
    "OutboundAnswer",
    "OutboundRequest",
    "PasswordProvider",
    "PermanentFailure",
    "PluginApiDeprecation",
    "PluginCommand",
    "PluginHost",
    "PluginPermission",
    "PluginRoute",
    "PluginService",
    "PluginStorage",
    "PollTarget",
    "ProbeResult",
    "ProviderUnavailable",
    "ProvisioningRules",
    "Publish",
    "RedirectAttempt",
    "RedirectProvider",
    "RedirectRules",
    "RemoteDevice",
    "RemoteProblem",
    "RequestCaller",
    "RequestFailed",
    "ResultTotals",
    "Results",
    "RiskRule",
    "RoleMap",
    "RouteRequest",
    "RunContext",
    "RunEnded",
    "SettingsError",
    "SignedMessage",
    "SnmpAccess",
    "SnmpUser",
    "StorageFull",
    "StorageRefused",
    "StorageUsage",
    "StoredValue",
    "SyncActing",
    "SyncHttp",
    "SyncResults",
    "SyncRunContext",
    "Table",
    "TlsPolicy",
    "ToolCall",
    "ToolContext",
    "ToolDescription",
    "ToolOutcome",
    "ToolPlan",
    "TranscriptEvent",
    "Unavailable",
    "UpstreamFailed",
    "UserServices",
    "Vlan",
    "WritingTool",
    "asked_pause",
    "csv_text",
    "device_text",
    "for_each",
    "hookimpl",
    "ip_address",
    "is_this_machine",
    "long_name",
    "mac_address",
    "origin_of",
    "retry_pause",
    "setting",
]

hookimpl = pluggy.HookimplMarker(PROJECT)
