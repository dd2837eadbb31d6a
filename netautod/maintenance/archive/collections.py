"""The rules of a backup for each collection of the product, each with its reason, and one for unknown
collections.

A restored database looks like one whose nodes have all died at that moment: what recovers from that recovers
from a restore, too. So everything is kept, but for what says which node holds or does something just now.
"""

from collections.abc import Collection, Mapping
from typing import Final

from netautod.store.migrations.archive_errors import ArchiveError
from netautod.store.migrations.restore_marker import COLLECTION as MARKER

# In no backup; one that has it is refused.
LEFT_OUT: Final[Mapping[str, str]] = {
    "idempotency_keys": "answers of requests of the last 24 hours, which a restore undoes in part",
    "leases": "held by nodes that are not there after a restore; no node may have to wait for them",
    "nodes": "the heartbeats of nodes that are not there after a restore",
    "seats": "held by sessions, which end",
    "refresh_tokens": "of sessions, which end",
    "console_logins": "logins that wait for a one-time code, for five minutes at most",
    "redirect_logins": "logins that are under way in a browser, for ten minutes at most",
    "events": "news of the last minutes, which are old by then",
    "directory_lookups": "turns and tokens of directories' logins: of sessions, which end, or made anew",
    "plugin_usage": "counted anew before the first write of a plugin",
    MARKER: "says that a restore is not finished",
}

# Kept, and changed at the end of a restore (settling.py).
SETTLED: Final[Mapping[str, str]] = {
    "executions": "what was to run or ran is cancelled: its nodes are gone, and it may have been done since",
    "sessions": "ended, not left out: certificates of SSH are revoked by the end of their session",
    "polls": "those that waited or ran are dropped; the history stays",
    "discovered": "events that observers have not got yet are dropped: they are old news",
    "notes_vaults": "locked where a passphrase can unlock them again, as at a stop",
    "pauses": "every organization is paused, whatever it was before",
    "webhook_deliveries": "those that waited are dropped: they are old news; the history stays",
    "backup_facts": "learned noise, sealed; how backups stood once, which have no events for webhooks",
    "configs": "versions of devices' configs; their undelivered events are dropped",
    "suspended_logins": "a restore lifts no guard against locked accounts; undelivered events are dropped",
    "audit_events": "each organization's chain goes on with the event of the restore",
    "audit_chains": "where the chains end",
}

KEPT: Final[Mapping[str, str]] = {
    "agent_changes": "changes of agents, which may not be made twice",
    "agent_transcripts": "evidence of what agents did",
    "api_tokens": "of programs, which cannot log in again by themselves; only their hashes",
    "caller_suspensions": "a restore lifts no guard against locked accounts; they run out by themselves",
    "clock": "how often the database's clock was set back, which is part of the ids of runs",
    "config_texts": "the texts of versions, sealed",
    "credential_defaults": "which credential an organization uses for what",
    "credentials": "logins on devices, sealed",
    "device_revisions": "grow with each change of devices",
    "devices": "the inventory, with pinned host keys",
    "discovered_parts": "rows of the tables that `discovered` names",
    "document_versions": "earlier contents of documents",
    "documents": "documents and notes",
    "execution_log": "lines of executions",
    "execution_results": "what executions did on each device",
    "installation_secrets": "of plugins' settings, sealed",
    "inventory_sources": "saved inventories, tokens sealed",
    "known_addresses": "from where accounts have logged in",
    "login_failures": "a restore lifts no lockout; they run out by themselves",
    "migrations": "which changes of the data are done, at the same moment as the data",
    "organizations": "the tenants",
    "plugin_records": "what plugins keep, sealed; also of those that are not installed (any more)",
    "roles": "of organizations",
    "signing_keys": "sealed; the sessions whose tokens they have signed end",
    "sites": "of organizations",
    "snapshot_configs": "which version each device had",
    "snapshots": "of executions",
    "ssh_cas": "private keys sealed; servers trust the public ones",
    "ssh_certificates": "what is revoked is found by them",
    "stale_watch": "up to which device staleness was watched, in earlier releases",
    "sync_history": "of inventories; what was open is closed by the next sync, as after a crash",
    "tasks": "schedules; the pause keeps them from firing",
    "upgrades": "what versions before numbered migrations had done to it",
    "users": "with the hashes of their passwords, and the secrets of one-time codes, sealed",
    "vault_keys": "keys of organizations, wrapped by the root key, which is in no backup",
    "vault_progress": "how far a re-wrapping of keys is, at the same moment as what it re-wraps",
    "webhooks": "of organizations, secrets sealed",
    "vault_roots": "check values: they tell whether a root key is the right one",
}


def in_backup(found: Collection[str]) -> list[str]:
    """Return the existing collections that a backup has, in its order.

    Deny by default would lose data here: what an older version or an administrator has left is kept, too.
    """
    return sorted(name for name in found if _may_be_in_backup(name))


def require_allowed(name: str, *, authenticated: bool) -> None:
    """Raise ArchiveError for a collection that a backup may not hold.

    One that no rule names was let in by `in_backup`; only where the backup is authenticated is that certain.
    """
    if not _may_be_in_backup(name):
        raise ArchiveError(
            f"The backup holds the collection {name!r}, which no backup of netautod has: someone has changed "
            "it. Nothing was written: take another backup"
        )
    if not authenticated and strangers([name]):
        raise ArchiveError(
            f"The backup holds the collection {name!r}, which is none of netautod's, and is not "
            "authenticated. Nothing was written: if the collection is yours, restore the backup with the "
            "version that made it, and upgrade then"
        )


def strangers(found: Collection[str]) -> list[str]:
    """Return the collections that no rule names."""
    return sorted(set(found) - set(LEFT_OUT) - set(SETTLED) - set(KEPT))


def _may_be_in_backup(name: str) -> bool:
    # Names that begin with "system." are the server's own, "$" and NUL may stand in none
    # (mongodb.com/docs/manual/reference/limits, "Naming Restrictions").
    its_own = name.startswith("system.") or not name or "$" in name or "\0" in name
    return name not in LEFT_OUT and not its_own
