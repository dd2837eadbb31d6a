"""What waits for a time of the database's clock when that is set back by a day."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from netautod.assembly.automation import list_alignments
from netautod.assembly.base import open_command_base
from netautod.plugin_host.loading.loader import LoadedPlugins
from netautod.plugin_host.manager import PluginManager
from netautod.store.client import Database
from tests.support.installation import open_installation

MINUTE, HOUR, DAY = 60, 3600, 86_400


@pytest.mark.parametrize(
    ("collection", "field", "longest", "values"),
    [
        pytest.param("login_failures", "locked_until", 15 * MINUTE, {}, id="a locked address"),
        pytest.param("login_failures", "next_at", 6, {}, id="a slot of an account"),
        pytest.param("login_failures", "held_until", DAY, {}, id="refused one-time codes"),
        pytest.param("directory_lookups", "next_at", 15 * MINUTE, {}, id="the next look-up"),
        pytest.param("directory_lookups", "free_at", 5 * MINUTE, {}, id="the turn of a node that died"),
        pytest.param("suspended_logins", "until", 15 * MINUTE, {"refusals": 1}, id="a suspended login"),
        pytest.param("suspended_logins", "until", HOUR, {"refusals": 3}, id="after several refusals"),
        pytest.param("suspended_logins", "until", DAY, {"refusals": 30}, id="after many refusals"),
        pytest.param("caller_suspensions", "until", 30 * MINUTE, {"refusals": 2}, id="suspended for callers"),
        pytest.param("webhooks", "resume_at", HOUR, {}, id="a webhook that pauses"),
    ],
)
@pytest.mark.parametrize("set_back", [False, True])
async def test_nothing_waits_longer_than_its_longest_pause(
    indexed: Database,
    tmp_path: Path,
    collection: str,
    field: str,
    longest: int,
    values: dict[str, Any],
    set_back: bool,
) -> None:
    installation = await (await open_installation(indexed, tmp_path)).started(tmp_path)
    now, rows = await indexed.now(), indexed.collection(collection)
    until = now + timedelta(seconds=longest - 2) + (timedelta(days=1) if set_back else timedelta(0))
    forgotten = until + timedelta(days=7)
    await rows.insert({"_id": "one", "name": "one", field: until, "forget_at": forgotten, **values})
    await rows.insert({"_id": "waits for none", field: None, "forget_at": forgotten, **values})
    async with open_command_base(installation, PluginManager(LoadedPlugins.of({}))) as base:
        for align in list_alignments(base):
            await align()
    row, other = await rows.find_one({"_id": "one"}), await rows.find_one({"_id": "waits for none"})
    assert row is not None
    assert other is not None
    assert other[field] is None
    assert (row[field] == until) is not set_back
    assert row[field] < now + timedelta(seconds=longest + 60)
    if "refusals" in values:
        assert row["forget_at"] == row[field] + timedelta(days=7)
