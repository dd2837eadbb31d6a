"""The collections that get new documents even when the disk of our own database is full.

What is here lets people log in, keeps what they do on record, or tells how runs ended: without it nobody
could make room. All others get none then; what is changed or deleted in them goes on.
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

SPARED = frozenset(
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
