"""Backup and restore with a replica set of others, which keeps its past for 300 s; no setting is touched."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient

from netautod.maintenance.archive.backup import back_up
from netautod.maintenance.archive.collections import KEPT
from netautod.store.connection import connect
from tests.maintenance.archive.origin import fill, place
from tests.support.programs.replica_set import ReplicaSet

pytestmark = pytest.mark.slow


async def test_from_one_database_of_a_set_into_another(replica_set: ReplicaSet, tmp_path: Path) -> None:
    one, other = connect(replica_set.uri, "one"), connect(replica_set.uri, "other")
    try:
        with MongoClient[Any](replica_set.uri, tz_aware=True) as client:
            origin = place(replica_set.uri, one, tmp_path / "origin", client)
            target = place(replica_set.uri, other, tmp_path / "target", client)
            await fill(origin)
            shutil.copy(origin.key_file, target.key_file)
            await back_up(origin.settings, tmp_path / "b", None)
            await target.restore(tmp_path / "b")
            before, after = origin.all(), target.all()
            assert {name: after[name] for name in KEPT} == {name: before[name] for name in KEPT}
    finally:
        one.close()
        other.close()
