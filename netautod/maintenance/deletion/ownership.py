"""Every collection of the database, and whom its documents belong to: one that is missing fails a test."""

from netautod.activity.audit.chain import store as chains
from netautod.activity.audit.documents import COLLECTION as AUDIT_EVENTS
from netautod.activity.events import store as events
from netautod.activity.webhooks import store as webhooks
from netautod.activity.webhooks.delivery import store as deliveries
from netautod.automation.agents import store as agents
from netautod.automation.executions import store as executions
from netautod.automation.executions.logs import store as log_store
from netautod.automation.executions.records import result_store
from netautod.automation.system import store as system
from netautod.automation.system.plugin_storage import store as plugin_records
from netautod.automation.system.plugin_storage import usage_store as plugin_usage
from netautod.automation.tasks import store as tasks
from netautod.documents import contents as documents
from netautod.documents import version_store as document_versions
from netautod.documents.notes import store as notes
from netautod.http.idempotency import store as idempotency
from netautod.identity.auth.directory import store as directory_lookups
from netautod.identity.auth.lockout import known_addresses
from netautod.identity.auth.lockout import store as login_failures
from netautod.identity.auth.pages import store as code_steps
from netautod.identity.auth.redirect import store as redirects
from netautod.identity.auth.sessions import store as sessions
from netautod.identity.auth.ssh_ca import store as ssh_ca
from netautod.identity.auth.tokens import store as tokens
from netautod.identity.users.organizations import store as organizations
from netautod.identity.users.roles import store as roles
from netautod.identity.users.store import USERS
from netautod.network.configs import snapshots
from netautod.network.configs import store as configs
from netautod.network.configs.backups import legacy_states as takeover
from netautod.network.configs.texts import learned_noise_store as learned_store
from netautod.network.configs.texts import store as config_texts
from netautod.network.credentials import store as credentials
from netautod.network.devices.records import counts, queries
from netautod.network.devices.sessions import caller_suspension_store
from netautod.network.devices.sessions import store as suspensions
from netautod.network.devices.vouching import upgrade
from netautod.network.discovery.polling import store as polls
from netautod.network.discovery.tables import event_outbox, part_store
from netautod.network.inventory import store as sources
from netautod.network.inventory.sync import store as sync_history
from netautod.network.sites import store as sites
from netautod.secrets.vault import named_secrets, organization_keys, rewrapping
from netautod.secrets.vault.root import store as roots
from netautod.store.clock import steps as clock
from netautod.store.leases import named
from netautod.store.migrations import restore_marker as marker
from netautod.store.migrations import store as migrations
from netautod.store.ownership import Owned, Shared

# In the order in which they go: what others are found by comes after those.
OWNED: tuple[Owned, ...] = (
    Owned(collection=idempotency.COLLECTION),
    Owned(collection=tasks.COLLECTION),
    Owned(collection=sessions.SESSIONS),
    Owned(collection=sessions.REFRESH_TOKENS),
    Owned(collection=directory_lookups.COLLECTION),
    Owned(collection=code_steps.COLLECTION),
    Owned(collection=tokens.API_TOKENS),
    Owned(collection=USERS),
    Owned(collection=roles.ROLES),
    Owned(collection=ssh_ca.COLLECTION),
    Owned(collection=ssh_ca.CERTIFICATES),
    Owned(collection=log_store.COLLECTION),
    Owned(collection=result_store.COLLECTION),
    Owned(collection=agents.TRANSCRIPTS),
    Owned(collection=agents.CHANGES),
    Owned(collection=events.COLLECTION),
    Owned(collection=executions.COLLECTION),
    Owned(collection=webhooks.COLLECTION),
    Owned(collection=deliveries.COLLECTION),
    Owned(collection=sources.COLLECTION),
    Owned(collection=sync_history.COLLECTION),
    Owned(collection=queries.COLLECTION),
    Owned(collection=counts.REVISIONS, field="_id"),
    Owned(collection=suspensions.COLLECTION),
    Owned(collection=caller_suspension_store.COLLECTION),
    Owned(collection=polls.COLLECTION),
    Owned(collection=event_outbox.HEADERS),
    Owned(collection=part_store.PARTS),
    Owned(collection=learned_store.COLLECTION),
    Owned(collection=snapshots.ROWS),
    Owned(collection=snapshots.COLLECTION),
    Owned(collection=configs.COLLECTION),
    Owned(collection=config_texts.COLLECTION),
    Owned(collection=credentials.DEFAULTS),
    Owned(collection=credentials.COLLECTION),
    Owned(collection=sites.COLLECTION),
    Owned(collection=document_versions.VERSIONS),
    Owned(collection=documents.COLLECTION),
    Owned(collection=notes.COLLECTION),
    Owned(collection=plugin_records.COLLECTION),
    Owned(collection=plugin_usage.COLLECTION),
    Owned(collection=AUDIT_EVENTS),
    Owned(collection=chains.CHAINS, field="_id"),
    Owned(collection=organization_keys.COLLECTION, field="_id"),
)
# These go last: they keep nodes, users and names from coming back meanwhile.
KEPT_TO_THE_END: tuple[Owned, ...] = (
    Owned(collection=system.PAUSES, field="_id"),
    Owned(collection=organizations.COLLECTION, field="_id"),
)
SHARED: tuple[Shared, ...] = (
    Shared(collection=system.NODES, reason="the nodes of the installation"),
    Shared(collection=tokens.SIGNING_KEYS, reason="the installation's keys for access tokens"),
    Shared(
        collection=named_secrets.COLLECTION, reason="secrets of the settings, which are the installation's"
    ),
    Shared(collection=roots.COLLECTION, reason="the installation's root key"),
    Shared(collection=rewrapping.PROGRESS_COLLECTION, reason="how far a rotation of keys has come"),
    Shared(collection=migrations.COLLECTION, reason="what has been done to the data"),
    Shared(collection=upgrade.MARKS, reason="the same, by earlier versions"),
    Shared(collection=marker.COLLECTION, reason="a restore into this database that is not finished"),
    Shared(collection=redirects.COLLECTION, reason="logins under way, of users who are not known yet"),
    Shared(collection=takeover.MARKS, reason="a place in the order of all devices, of earlier releases"),
    Shared(collection=named.COLLECTION, reason="what nodes hold: goes with the devices and sources"),
    Shared(collection=clock.COLLECTION, reason="how often the database's clock was set back"),
    Shared(collection=sessions.SEATS, reason="seats of the installation: those held go with the sessions"),
    Shared(collection=login_failures.COLLECTION, reason="by keyed hashes of names: goes with the users"),
    Shared(collection=known_addresses.COLLECTION, reason="by the same hashes: goes with the users"),
)
KNOWN = frozenset(
    {*(one.collection for one in (*OWNED, *KEPT_TO_THE_END)), *(one.collection for one in SHARED)}
)
