"""How the collections would lie on a sharded cluster: on paper, so far nothing here is asked by the service.

A replica set of three members (netautod/manual/operate/scale.md) is what is tested; this is for whoever
outgrows it, as tests/bench/bench_simulation.py may tell. Each collection that grows with devices or with
time has a shard key that begins with the organization, because every call of `OrgCollection` names it
(store/scoped.py): a request asks the shards of its own organization, and its list is in few chunks. What
asks all of them is in tests/support/cross_shard_queries.py. The second field spreads a large organization
over all shards. The others stay on the database's primary shard.

What MongoDB asks of a key (Database Manual, "Shard Key Indexes"; "Unique Indexes on Sharded Collections"):
every unique index begins with the key. `FIRST_TO_CHANGE` are the indexes that do not yet: before
`sh.shardCollection` each is made anew with the organization in front, which allows the same documents, since
the ids of tasks and devices are of one organization each. An `_id` is unique within a shard only; ours are
random, or made from the ids of what stands in the key. Writes of one document without the whole key are done
from MongoDB 7.0 on (SERVER-70948), in two steps: hence the exceptions below.
"""

from collections.abc import Mapping
from dataclasses import dataclass

ORGANIZATION = "org_id"


@dataclass(frozen=True, kw_only=True)
class ShardKey:
    """`reason`: why the fields behind the organization, or why there are none."""

    fields: tuple[str, ...]
    reason: str


def _by(reason: str, *more: str) -> ShardKey:
    return ShardKey(fields=(ORGANIZATION, *more), reason=reason)


_NAMES = "names are unique in an organization, and its records are some hundred MB at most"
_ID = "read and written by id; lists of an organization ask its shards"

SHARDED: Mapping[str, ShardKey] = {
    "agent_changes": _by("written and read with the execution that proposes them", "execution_id"),
    "agent_transcripts": _by("a transcript is read as a whole, and its order is unique", "execution_id"),
    "audit_events": _by("the chain of an organization is one sequence, which a unique index numbers", "seq"),
    "backup_facts": _by("one row of each device that something is learned of, by the device's id", "_id"),
    "caller_suspensions": _by("few, and asked for by organization and device", "device_id"),
    "config_texts": _by("a text is asked for by its id, which is a keyed hash and so spreads", "_id"),
    "configs": _by("versions of a device are numbered by a unique index, and read together", "device_id"),
    "credentials": _by(_NAMES),
    "devices": _by("names and external ids are unique in an organization: 200,000 devices are 0.5 GB"),
    "discovered": _by(_ID, "_id"),
    "discovered_parts": _by("the parts of a device's tables are written and read together", "device_id"),
    "document_versions": _by("versions of a document are read together", "document_id"),
    "documents": _by(_ID, "_id"),
    "execution_log": _by("its lines are read together, and numbered uniquely", "execution_id"),
    "execution_results": _by("the results of an execution are read together", "execution_id"),
    "executions": _by("one run of a task at a time is what unique indexes hold", "task_id"),
    "idempotency_keys": _by("read and written by id, a hash of the scope", "_id"),
    "inventory_sources": _by(_NAMES),
    "plugin_records": _by("read and listed by ids that begin with organization and plugin", "_id"),
    "polls": _by("one open poll of a device is what a unique index holds", "device_id"),
    "sites": _by(_NAMES),
    "snapshot_configs": _by("the rows of a snapshot are read together", "snapshot_id"),
    "snapshots": _by(_ID, "_id"),
    "ssh_certificates": _by("serial numbers are unique in an organization", "serial"),
    "suspended_logins": _by("few, and asked for by organization and device", "device_id"),
    "sync_history": _by(_ID, "_id"),
    "webhook_deliveries": _by("those of a webhook are sent in order by one node", "webhook_id"),
    "tasks": _by("names are unique in an organization: 1,000,000 tasks are 1 GB"),
}

UNSHARDED: Mapping[str, str] = {
    "api_tokens": "found by the hash of a token, before the organization is known; thousands",
    "audit_chains": "one row of each organization",
    "clock": "one row of the installation",
    "console_logins": "found by the hash of a ticket; gone within minutes",
    "credential_defaults": "one row of each organization",
    "device_revisions": "one row of each organization",
    "directory_lookups": "gone within minutes",
    "events": "those of plugins, gone within minutes",
    "installation_secrets": "one row of each secret of the settings",
    "known_addresses": "of accounts, before the organization is known; they expire",
    "leases": "found by name alone, by nodes of no organization; one row of each device in use",
    "login_failures": "of accounts and addresses, before the organization is known; they expire",
    "migrations": "one row of each migration",
    "nodes": "one row of each node",
    "notes_vaults": "one row of each organization",
    "organizations": "one row of each organization",
    "pauses": "one row of each organization that is paused",
    "plugin_usage": "one row of each plugin and organization",
    "redirect_logins": "before the organization is known; gone within minutes",
    "refresh_tokens": "found by the hash of a token, before the organization is known; they expire",
    "roles": "some of each organization",
    "seats": "one row of the installation",
    "sessions": "found by the id in a token; thousands",
    "signing_keys": "those of the last hours",
    "ssh_cas": "one row of each organization",
    "stale_watch": "one row of the installation",
    "unfinished_restores": "one row while a restore goes on",
    "upgrades": "one row of each upgrade",
    "users": "a user name is unique in the installation, and logs in before the organization is known",
    "vault_keys": "one row of each version of an organization's key",
    "vault_progress": "one row while keys are changed",
    "vault_roots": "one row of each root key",
    "webhooks": "read by every node once a second, of all organizations; at most 100 of each",
}

FIRST_TO_CHANGE: Mapping[tuple[str, tuple[str, ...]], str] = {
    ("executions", ("task_id", "scheduled_for", "clock_step")): "a task is of one organization",
    ("executions", ("task_id", "state")): "a task is of one organization",
    ("executions", ("holds_task", "task_id")): "a task is of one organization; (org_id, task_id, holds_task)",
    ("execution_log", ("execution_id", "seq")): "an execution is of one organization",
    ("agent_transcripts", ("execution_id", "seq")): "an execution is of one organization",
    ("polls", ("device_id", "state")): "a device is of one organization",
}
"""Unique indexes of sharded collections that do not begin with the key."""

STAYING: Mapping[tuple[str, tuple[str, ...]], str] = {
    ("executions", ("holds_task", "task_id")): "nodes look for the busy tasks of all organizations",
}
"""Of these the ones that a query of all shards needs (tests/support/cross_shard_queries.py): they stay
beside the new ones, not unique any more."""
