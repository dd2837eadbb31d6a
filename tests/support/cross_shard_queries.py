"""What asks all shards of a sharded cluster (tests/support/sharding.py): queries without the organization.

Each does the work of many organizations in one round trip, so that its cost grows with nodes and shards, not
with organizations; or it is rare, and does not know the organization. Any other query of a sharded collection
names it. The tests look at all that the service asks (tests/support/query_watch.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass

MANY = "_ids"
"""Stands for the `_id` where some documents are asked for in one round trip; `_id` is a single document."""


@dataclass(frozen=True, kw_only=True)
class Across:
    """`index`: the fields of the one that serves it on every shard, or `_id`; empty where all is read."""

    reason: str
    index: str


def _by(index: str, reason: str) -> Across:
    return Across(reason=reason, index=index)


_LOOK = "a look for events that webhooks are owed, each second where there are any"
_PAID = "marks of what has become deliveries, in one round trip"
_EXPIRY = "gives up what waits too long, or is too much, once a minute"
_DEAD = "what a process that was given up has left, asked by the one that follows it"
_CLAIM = "what has become of a claim whose answer was lost"
_SET_BACK = "once after the database's clock was set back"
_RETENTION = "upkeep: executions that are old, or too many of a task"

ACROSS: Mapping[tuple[str, str], Across] = {
    ("audit_events", ""): _by("org_id seq", "the organizations that have events, from the index alone"),
    ("audit_events", "at seq"): _by("at", "upkeep: events without a place, of nodes of an earlier version"),
    ("audit_events", "_ids"): _by("_id", "the same: their removal"),
    ("backup_facts", "owed.at"): _by("", "a restore of a backup of an earlier release"),
    ("config_texts", "loose touched_at"): _by("touched_at", "upkeep: texts that no version names"),
    ("configs", ""): _by("org_id device_id version", "upkeep: devices with too many versions"),
    ("configs", "created_at last_seen_at"): _by("created_at", "upkeep: devices with old versions"),
    ("configs", "owed.at"): _by("owed.at", _LOOK),
    ("configs", "_ids"): _by("_id", _PAID),
    ("configs", "shown.at shown.rules"): _by(
        "shown.rules shown.at", "a look for versions whose form as shown is to be made anew, once a minute"
    ),
    ("configs", "parts_at shown.at shown.rules shown_parts.rules"): _by(
        "shown.rules shown.at", "a look for versions of which parts were read since, once an hour"
    ),
    ("configs", "unnoted"): _by("unnoted", "a look for captures whose node died, once a minute"),
    ("credentials", "removal"): _by("removal", "a start: removals that a crash has interrupted"),
    ("devices", "backup.fresh_at backup.stale_at live"): _by(
        "backup.stale_at backup.fresh_at", "a look for stale backups, once a minute"
    ),
    ("devices", "backup.owed.at"): _by("backup.owed.at", _LOOK),
    ("devices", "_ids backup.owed.id"): _by("_id", _PAID),
    ("devices", "cleanup"): _by("cleanup", "a start: deletions that a crash has interrupted"),
    ("devices", "cleanup deleted_at live"): _by("deleted_at", "upkeep: devices that were deleted long ago"),
    ("devices", "$expr live poll_enabled"): _by("poll_due_at org_id", _SET_BACK),
    ("devices", "live poll_due_at poll_enabled"): _by("poll_due_at org_id", "a node looks for due polls"),
    ("discovered", "owed_at"): _by("owed_at", _LOOK),
    ("discovered", "_ids"): _by("_id", _PAID),
    ("discovered", "untold_at"): _by("untold_at", "a look for changes that observers have not been told"),
    ("discovered_parts", "made_at"): _by("org_id device_id made_at _id", "upkeep: parts of no device"),
    ("documents", "deleted_at"): _by("deleted_at", "upkeep every some minutes"),
    ("documents", "resealing"): _by("resealing", "upkeep every some minutes"),
    ("executions", ""): _by("", "upkeep: how many executions each task has"),
    ("executions", "created_at state"): _by("state not_before created_at", _RETENTION),
    ("executions", "_ids created_at state task_id"): _by("task_id created_at _id", _RETENTION),
    ("executions", "$expr closing.since"): _by("closing.since", "a look for logs to end, as for dead nodes"),
    ("executions", "$expr state"): _by(
        "state not_before created_at", "a look for dead nodes and expired approvals, every tenth of a lease"
    ),
    ("executions", "$expr holds_task state task_id"): _by(
        "state not_before created_at", "a node with a free slot looks for work of everybody"
    ),
    ("executions", "holds_task state"): _by("holds_task task_id", "the same: which tasks are busy"),
    ("executions", "_ids owner"): _by("_id", "a heartbeat: all that a node runs, in one round trip"),
    ("executions", "state"): _by("state not_before created_at", "the page of metrics, every five seconds"),
    ("executions", "state task_id"): _by(
        "task_id created_at _id", "a scan asks once for all tasks that are due; and upkeep, of one task"
    ),
    ("executions", "task_id"): _by(
        "task_id created_at _id",
        "the newest of each task of a list: with the organization the server would read all of them",
    ),
    ("executions", "scheduled_for task_id"): _by("task_id created_at _id", _SET_BACK),
    ("executions", "owed_at"): _by("owed_at", _LOOK),
    ("executions", "_ids"): _by("_id", _PAID),
    ("executions", "owner state"): _by("state lease_until", _DEAD),
    ("executions", "_id epoch state"): _by("_id", _DEAD),
    ("executions", "_id"): _by("_id", _CLAIM),
    ("executions", "_id epoch"): _by("_id", _CLAIM),
    ("inventory_sources", "$expr auto_sync_enabled removal"): _by("next_sync_at", _SET_BACK),
    ("inventory_sources", "auto_sync_enabled next_sync_at removal"): _by(
        "next_sync_at", "a look for due syncs, every some seconds"
    ),
    ("inventory_sources", "removal"): _by("removal", "a start: removals that a crash has interrupted"),
    ("polls", "open"): _by("", "a restore"),
    ("polls", "open state"): _by("state queued_at", "a node looks for polls that wait"),
    ("sites", "removal"): _by("removal", "a start: removals that a crash has interrupted"),
    ("sites", "renames"): _by("renames", "a start: new names that not all devices have"),
    ("snapshots", "draft_since"): _by("draft_since", "upkeep: snapshots that were begun and not ended"),
    ("ssh_certificates", "valid_before"): _by("valid_before", "upkeep once an hour"),
    ("ssh_certificates", "_ids revoked_at"): _by("_id", "the same: those that are revoked"),
    ("caller_suspensions", "$expr"): _by("forget_at", _SET_BACK),
    ("suspended_logins", "$expr"): _by("forget_at", _SET_BACK),
    ("suspended_logins", "forget_at"): _by("forget_at", "the page of metrics, every five seconds"),
    ("suspended_logins", "owed_at"): _by("owed_at", _LOOK),
    ("suspended_logins", "_ids"): _by("_id", _PAID),
    ("tasks", ""): _by("owner_id blocked_for", "a look for blocked tasks: the owners, from the index alone"),
    ("tasks", "blocked_for owner_id"): _by("owner_id blocked_for", "the same: tasks of owners who are gone"),
    ("tasks", "_ids blocked_event.id"): _by("_id", _PAID),
    ("tasks", "blocked_event.at"): _by("blocked_event.at", _LOOK),
    ("tasks", "$expr enabled"): _by("enabled next_run_at", "the scan looks for due tasks"),
    ("tasks", "_ids"): _by("_id", "flags and starts of all that a round has claimed, in one round trip"),
    ("tasks", "_ids next_run_at"): _by("_id", "a scan advances all tasks of one tick in one operation"),
    ("webhook_deliveries", "$expr waiting"): _by("waiting webhook_id at place", _SET_BACK),
    ("webhook_deliveries", "waiting"): _by(
        "waiting webhook_id at place", "a look for webhooks that something waits for, every second"
    ),
    ("webhook_deliveries", "waiting webhook_id"): _by(
        "waiting webhook_id at place", f"{_EXPIRY}; and what waits for a webhook that is gone"
    ),
    ("webhook_deliveries", "at waiting"): _by("waiting webhook_id at place", _EXPIRY),
    ("webhook_deliveries", "ended_at"): _by("ended_at", "upkeep once an hour"),
}
"""By collection and fields of the condition but for the organization: one that leaves out those that are
paused asks all shards as well."""

WALKS: Mapping[str, str] = {
    "netautod.network.configs.backups.legacy_states": "an upgrade, which looks at all documents once",
    "netautod.store.migrations.model": "migrations, which change all documents in pages by their ids",
    "netautod.secrets.vault.rewrapping": "a rotation of keys, which looks at all sealed values",
}
"""Modules that walk through whole collections, whatever they are."""
