"""The collections that get new documents even when the disk of our own database is full.

These let people log in, record what they do, or hold how runs ended: without them no one could make room.
All other collections get no new documents then; changes and deletions in them still work.
"""

from netautod.activity.audit import documents as audit
from netautod.automation.executions.logs import store as log_store
from netautod.automation.executions.records import result_store
from netautod.identity.auth.directory import store as directory_lookups
from netautod.identity.auth.redirect import store as redirects
from netautod.identity.auth.sessions.store import REFRESH_TOKENS, SEATS, SESSIONS
from netautod.identity.auth.ssh_ca import store as ssh_ca
from netautod.identity.auth.tokens.store import SIGNING_KEYS
from netautod.secrets.vault import organization_keys

FULL_DISK_COLLECTIONS = frozenset(
    {
        audit.COLLECTION,
        directory_lookups.COLLECTION,
        log_store.COLLECTION,
        organization_keys.COLLECTION,
        redirects.COLLECTION,
        REFRESH_TOKENS,
        result_store.COLLECTION,
        SEATS,
        SESSIONS,
        SIGNING_KEYS,
        ssh_ca.CERTIFICATES,
        ssh_ca.COLLECTION,
    }
)
