"""Every store of the service, made once, with the indexes and the sealed fields of all collections."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from netautod.activity.audit import store as audit
from netautod.activity.audit.store import AuditStore
from netautod.activity.events import store as events
from netautod.activity.events.store import PublishedEvents
from netautod.activity.webhooks import store as webhooks
from netautod.activity.webhooks.delivery import store as deliveries
from netautod.activity.webhooks.delivery.store import DeliveryStore
from netautod.activity.webhooks.store import WebhookStore
from netautod.activity.webhooks.subscriptions import Subscriptions, Wanted
from netautod.automation.agents import store as agents
from netautod.automation.agents.store import ChangeStore, TranscriptStore
from netautod.automation.executions import store as executions
from netautod.automation.executions.history.store import ExecutionHistoryStore
from netautod.automation.executions.logs import store as log_store
from netautod.automation.executions.logs.store import ExecutionLogStore
from netautod.automation.executions.records import result_store
from netautod.automation.executions.records.result_store import DeviceResultStore
from netautod.automation.executions.store import ExecutionStore
from netautod.automation.system import store as system
from netautod.automation.system.plugin_storage import store as plugin_records
from netautod.automation.system.plugin_storage.store import PluginRecordStore
from netautod.automation.system.plugin_storage.usage_store import PluginUsageStore
from netautod.automation.system.store import SystemStore
from netautod.automation.tasks import store as tasks
from netautod.automation.tasks.owners import store as task_owners
from netautod.automation.tasks.owners.store import TaskOwnerStore
from netautod.automation.tasks.store import TaskStore
from netautod.core.settings.retention import RetentionSettings
from netautod.documents import store as documents
from netautod.documents.notes import store as notes
from netautod.documents.notes.store import NotesVaultStore
from netautod.documents.store import DocumentStore
from netautod.documents.version_store import VersionStore
from netautod.http.idempotency import store as idempotency
from netautod.http.idempotency.store import IdempotencyStore
from netautod.identity.auth.directory import store as directory_lookups
from netautod.identity.auth.directory.store import DirectoryLookupStore
from netautod.identity.auth.lockout import known_addresses
from netautod.identity.auth.lockout import store as failure_counters
from netautod.identity.auth.otp import store as otp
from netautod.identity.auth.otp.store import OtpStore
from netautod.identity.auth.pages import store as code_steps
from netautod.identity.auth.pages.store import CodeStepStore
from netautod.identity.auth.redirect import store as redirects
from netautod.identity.auth.redirect.store import RedirectStore
from netautod.identity.auth.sessions import store as sessions
from netautod.identity.auth.sessions.store import RefreshTokenStore, SeatStore, SessionStore
from netautod.identity.auth.ssh_ca import store as ssh_ca
from netautod.identity.auth.ssh_ca.store import SshAuthorityStore, SshCertificateStore
from netautod.identity.auth.tokens import store as tokens
from netautod.identity.auth.tokens.store import ApiTokenStore, SigningKeyStore
from netautod.identity.users import store as users
from netautod.identity.users.organizations import store as organizations
from netautod.identity.users.organizations.store import OrganizationStore
from netautod.identity.users.roles.store import RoleStore
from netautod.identity.users.store import UserStore
from netautod.network.configs import snapshots
from netautod.network.configs import store as configs
from netautod.network.configs.backups import queries as backup_states
from netautod.network.configs.backups.stale_store import StaleWatch
from netautod.network.configs.backups.store import BackupStates
from netautod.network.configs.store import ConfigStore
from netautod.network.configs.texts import learned_noise_store as learned_store
from netautod.network.configs.texts import store as config_texts
from netautod.network.credentials import store as credentials
from netautod.network.credentials.store import CredentialStore
from netautod.network.devices.bindings.store import BindingStore
from netautod.network.devices.host_keys import store as host_keys
from netautod.network.devices.host_keys.store import HostKeyStore
from netautod.network.devices.polls import store as due_polls
from netautod.network.devices.polls.store import DuePolls
from netautod.network.devices.records import queries as devices
from netautod.network.devices.sessions import caller_suspension_store as caller_suspensions
from netautod.network.devices.sessions import store as suspensions
from netautod.network.devices.sessions.caller_suspension_store import CallerSuspensionStore
from netautod.network.devices.sessions.store import SuspensionStore
from netautod.network.devices.store import DeviceStore
from netautod.network.discovery.polling import store as polls
from netautod.network.discovery.polling.store import PollStore
from netautod.network.discovery.tables import store as discovered
from netautod.network.discovery.tables.orphaned_parts import LeftOvers
from netautod.network.discovery.tables.reading import DiscoveredReads
from netautod.network.discovery.tables.store import DiscoveredStore
from netautod.network.inventory import store as sources
from netautod.network.inventory.store import SourceStore
from netautod.network.inventory.sync import store as sync_history
from netautod.network.inventory.sync.store import HistoryStore
from netautod.network.sites import store as sites
from netautod.network.sites.store import SiteStore
from netautod.secrets.vault import named_secrets
from netautod.secrets.vault.envelope import SealedField
from netautod.store.client import Database
from netautod.store.indexes import Index

INDEXES: tuple[Index, ...] = (
    *agents.INDEXES,
    *tokens.INDEXES,
    *audit.INDEXES,
    *sessions.INDEXES,
    *backup_states.INDEXES,
    *config_texts.INDEXES,
    *configs.INDEXES,
    *snapshots.INDEXES,
    *credentials.INDEXES,
    *devices.INDEXES,
    *due_polls.INDEXES,
    *host_keys.INDEXES,
    *idempotency.INDEXES,
    *directory_lookups.INDEXES,
    *discovered.INDEXES,
    *documents.INDEXES,
    *events.INDEXES,
    *executions.INDEXES,
    *failure_counters.INDEXES,
    *known_addresses.INDEXES,
    *sync_history.INDEXES,
    *sources.INDEXES,
    *log_store.INDEXES,
    *notes.INDEXES,
    *organizations.INDEXES,
    *polls.INDEXES,
    *redirects.INDEXES,
    *code_steps.INDEXES,
    *result_store.INDEXES,
    *sites.INDEXES,
    *ssh_ca.INDEXES,
    *suspensions.INDEXES,
    *caller_suspensions.INDEXES,
    *system.INDEXES,
    *tasks.INDEXES,
    *task_owners.INDEXES,
    *users.INDEXES,
    *webhooks.INDEXES,
    *deliveries.INDEXES,
)

SEALED_FIELDS: tuple[SealedField, ...] = (
    *credentials.SEALED_FIELDS,
    *tokens.SEALED_FIELDS,
    *directory_lookups.SEALED_FIELDS,
    *ssh_ca.SEALED_FIELDS,
    *config_texts.SEALED_FIELDS,
    *learned_store.SEALED_FIELDS,
    *sources.SEALED_FIELDS,
    *idempotency.SEALED_FIELDS,
    *notes.SEALED_FIELDS,
    *otp.SEALED_FIELDS,
    *plugin_records.SEALED_FIELDS,
    *named_secrets.SEALED_FIELDS,
    *webhooks.SEALED_FIELDS,
)


@dataclass(frozen=True, kw_only=True)
class NetworkStores:
    """The stores of devices, their configs and what is discovered, and of inventories."""

    backup_states: BackupStates
    bindings: BindingStore
    host_keys: HostKeyStore
    configs: ConfigStore
    credentials: CredentialStore
    devices: DeviceStore
    discovered: DiscoveredStore
    discovered_left_overs: LeftOvers
    discovered_reads: DiscoveredReads
    due_polls: DuePolls
    polls: PollStore
    sites: SiteStore
    sources: SourceStore
    stale_backups: StaleWatch
    suspensions: SuspensionStore
    caller_suspensions: CallerSuspensionStore
    sync_history: HistoryStore

    @classmethod
    def of_network(cls, database: Database, retention: RetentionSettings, wanted: Wanted) -> Self:
        """Make the stores; `wanted` says which events they mark for webhooks."""
        devices = DeviceStore(database)
        return cls(
            backup_states=BackupStates(database, totals=devices.counts),
            bindings=BindingStore(database, counts=devices.counts),
            host_keys=HostKeyStore(database),
            configs=ConfigStore(database, wanted=wanted),
            credentials=CredentialStore(database),
            devices=devices,
            discovered=DiscoveredStore(
                database, gone_for=timedelta(days=retention.discovered_days), wanted=wanted
            ),
            discovered_left_overs=LeftOvers(database),
            discovered_reads=DiscoveredReads(database),
            due_polls=DuePolls(database),
            polls=PollStore(database, keep=retention.poll_history),
            sites=SiteStore(database),
            sources=SourceStore(database),
            stale_backups=StaleWatch(database, wanted=wanted),
            suspensions=SuspensionStore(database, wanted=wanted),
            caller_suspensions=CallerSuspensionStore(database),
            sync_history=HistoryStore(database, keep=retention.sync_history),
        )


@dataclass(frozen=True, kw_only=True)
class Stores(NetworkStores):
    """The stores of the service, one of each kind.

    There is one of each because a store may remember what it has read or counted, and gathers writes of many
    callers. Stores that need more than the database are built in the modules of their wings: the texts and
    the snapshots of configs, the counters of failed logins. `subscriptions` say which events stores mark for
    webhooks; until they are followed, they mark none.
    """

    agent_changes: ChangeStore
    agent_transcripts: TranscriptStore
    api_tokens: ApiTokenStore
    audit: AuditStore
    idempotency: IdempotencyStore
    code_steps: CodeStepStore
    directory_lookups: DirectoryLookupStore
    document_versions: VersionStore
    documents: DocumentStore
    events: PublishedEvents
    execution_history: ExecutionHistoryStore
    execution_logs: ExecutionLogStore
    execution_results: DeviceResultStore
    executions: ExecutionStore
    notes: NotesVaultStore
    organizations: OrganizationStore
    otp: OtpStore
    plugin_records: PluginRecordStore
    plugin_usage: PluginUsageStore
    redirects: RedirectStore
    refresh_tokens: RefreshTokenStore
    roles: RoleStore
    seats: SeatStore
    sessions: SessionStore
    signing_keys: SigningKeyStore
    ssh_authorities: SshAuthorityStore
    ssh_certificates: SshCertificateStore
    system: SystemStore
    task_owners: TaskOwnerStore
    tasks: TaskStore
    users: UserStore
    webhooks: WebhookStore
    webhook_deliveries: DeliveryStore
    subscriptions: Subscriptions

    @classmethod
    def of(cls, database: Database, retention: RetentionSettings) -> Self:
        webhooks = WebhookStore(database)
        subscriptions = Subscriptions(webhooks)
        wanted = subscriptions.wants
        return cls(
            **vars(NetworkStores.of_network(database, retention, wanted)),
            agent_changes=ChangeStore(database),
            agent_transcripts=TranscriptStore(database),
            api_tokens=ApiTokenStore(database),
            audit=AuditStore(database),
            idempotency=IdempotencyStore(database),
            code_steps=CodeStepStore(database),
            directory_lookups=DirectoryLookupStore(database),
            document_versions=VersionStore(database),
            documents=DocumentStore(database),
            events=PublishedEvents(database),
            execution_history=ExecutionHistoryStore(database),
            execution_logs=ExecutionLogStore(database),
            execution_results=DeviceResultStore(database),
            executions=ExecutionStore(database, wanted=wanted),
            notes=NotesVaultStore(database),
            organizations=OrganizationStore(database),
            otp=OtpStore(database),
            plugin_records=PluginRecordStore(database),
            plugin_usage=PluginUsageStore(database),
            redirects=RedirectStore(database),
            refresh_tokens=RefreshTokenStore(database),
            roles=RoleStore(database),
            seats=SeatStore(database),
            sessions=SessionStore(database),
            signing_keys=SigningKeyStore(database),
            ssh_authorities=SshAuthorityStore(database),
            ssh_certificates=SshCertificateStore(database),
            system=SystemStore(database),
            task_owners=TaskOwnerStore(database, wanted=wanted),
            tasks=TaskStore(database),
            users=UserStore(database),
            webhooks=webhooks,
            webhook_deliveries=DeliveryStore(database),
            subscriptions=subscriptions,
        )
