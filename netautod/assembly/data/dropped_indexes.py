"""Indexes that earlier versions declared and this one does not: each would cost every write, for nothing.

An index whose declaration is changed or taken away, so that its name is declared no more, has a line here,
and a further line `dropped indexes` in the table of migrations. What is not listed is left alone: an
administrator may have made it.
"""

from collections.abc import Sequence

DROPPED: Sequence[tuple[str, str]] = (
    ("backup_facts", "owed.at_1"),
    ("backup_facts", "stale_at_1_watched_from_1"),
    ("devices", "org_id_1_live_1_backup.fresh_at_1_backup.state_1_backup.kind_1_device_type_1_site_1"),
    ("discovered", "org_id_1"),
    ("discovered_parts", "device_id_1_made_at_1"),
    ("discovered_parts", "org_id_1_addresses_1"),
    ("discovered_parts", "org_id_1_device_id_1_made_at_1"),
    ("discovered_parts", "org_id_1_macs_1"),
    ("documents", "org_id_1_category_1_name_1__id_1"),
    ("documents", "org_id_1_name_1__id_1"),
    ("documents", "org_id_1_parent_folder_1_category_1_name_1__id_1"),
    ("documents", "org_id_1_parent_folder_1_name_1__id_1"),
    ("executions", "task_id_1_scheduled_for_1"),
    ("tasks", "org_id_1_task_type_1_name_1__id_1"),
    ("webhook_deliveries", "webhook_id_1_at_1_place_1"),
)
"""Pairs of a collection and the name of an index in it."""
