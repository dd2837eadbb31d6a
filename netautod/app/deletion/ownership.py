"""Every collection of the database, and whom its documents belong to: one that is missing fails a test."""

from netautod.agents import store as agents
from netautod.app.archive import marker
from netautod.audit.chain import store as chains
from netautod.audit.documents import COLLECTION as AUDIT_EVENTS
from netautod.auth.directory import store as directory_lookups
from netautod.auth.lockout import known_addresses
from netautod.auth.lockout import store as login_failures
from netautod.auth.pages import store as code_steps
from netautod.auth.redirect import store as redirects
from netautod.auth.sessions import store as sessions
from netautod.auth.ssh_ca import store as ssh_ca
from netautod.auth.tokens import store as tokens
from netautod.configs import snapshots
from netautod.configs import store as configs
from netautod.configs.backups import takeover
from netautod.configs.texts import learned_store
from netautod.configs.texts import store as config_texts
from netautod.credentials import store as credentials
from netautod.devices import counts, queries
from netautod.devices.sessions import caller_suspension_store
from netautod.devices.sessions import store as suspensions
from netautod.devices.vouching import upgrade
from netautod.discovery.polling import store as polls
from netautod.discovery.tables import shelf, untold
from netautod.docs import contents as documents
from netautod.docs import store as document_versions
from netautod.docs.notes import store as notes
from netautod.events import store as events
from netautod.executions import log_store, result_store
from netautod.executions import store as executions
from netautod.idempotency import store as idempotency
from netautod.inventory import store as sources
from netautod.inventory.sync import store as sync_history
from netautod.sites import store as sites
from netautod.store.leases import named
from netautod.store.migrations import store as migrations
from netautod.store.ownership import Owned, Shared
from netautod.system import store as system
from netautod.system.plugin_storage import store as plugin_records
from netautod.system.plugin_storage import usage_store as plugin_usage
from netautod.tasks import store as tasks
from netautod.users.organizations import store as organizations
from netautod.users.roles import store as roles
from netautod.users.store import USERS
from netautod.vault import named_secrets, organization_keys, rewrapping
from netautod.vault.root import store as roots
from netautod.webhooks import store as webhooks
from netautod.webhooks.delivering import store as deliveries

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
    Owned(collection=untold.HEADERS),
    Owned(collection=shelf.PARTS),
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
    Shared(collection=redirects.COLLECTION, reason="logins under way, of nobody known yet"),
    Shared(collection=takeover.MARKS, reason="a place in the order of all devices, of earlier releases"),
    Shared(collection=named.COLLECTION, reason="what nodes hold: goes with the devices and sources"),
    Shared(collection=sessions.SEATS, reason="seats of the installation: those held go with the sessions"),
    Shared(collection=login_failures.COLLECTION, reason="by keyed hashes of names: goes with the users"),
    Shared(collection=known_addresses.COLLECTION, reason="by the same hashes: goes with the users"),
)
KNOWN = frozenset(
    {*(one.collection for one in (*OWNED, *KEPT_TO_THE_END)), *(one.collection for one in SHARED)}
)
