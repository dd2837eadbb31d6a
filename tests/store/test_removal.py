"""A record goes only if nothing refers to it, also when a reference appears or a crash cuts it off."""

from collections.abc import Sequence

import pytest

from netautod.core.errors import Conflict, NotFound
from netautod.core.identity.caller import OrgId
from netautod.core.registries import References, Uses
from netautod.store.client import Database
from netautod.store.removal import VISIBLE, Removal
from netautod.store.scoped import scoped

ORG = OrgId("org")


class Users:
    """A finder of users; one more appears at the call of that number."""

    def __init__(self, names: Sequence[str] = (), *, appear_at: int = 0) -> None:
        self.names = list(names)
        self.asked = 0
        self.appear_at = appear_at

    async def find(self, org_id: OrgId, record_id: str, limit: int) -> Uses:
        self.asked += 1
        if self.asked == self.appear_at:
            self.names.append("late")
        return Uses(kind="device", names=self.names[:limit], count=len(self.names))


async def _removal(database: Database, users: Users) -> Removal:
    references = References("Thing")
    references.register(users.find)
    await scoped(database, "things").insert(ORG, {"_id": "1"})
    return Removal(database, "things", references)


async def _visible(database: Database) -> bool:
    return await scoped(database, "things").find_one(ORG, {"_id": "1", **VISIBLE}) is not None


async def test_an_unused_record_is_removed_once(database: Database) -> None:
    removal = await _removal(database, Users())
    with pytest.raises(NotFound):
        await removal.remove(OrgId("another"), "1")
    await removal.remove(ORG, "1")
    assert await scoped(database, "things").count(ORG, {}) == 0
    with pytest.raises(NotFound, match="Thing not found"):
        await removal.remove(ORG, "1")


async def test_a_user_that_appears_after_the_record_was_hidden_brings_it_back(database: Database) -> None:
    removal = await _removal(database, Users(appear_at=2))
    with pytest.raises(Conflict, match="late"):
        await removal.remove(ORG, "1")
    assert await _visible(database)


@pytest.mark.parametrize(
    ("names", "stays"), [pytest.param([], False, id="unused"), pytest.param(["a"], True, id="used")]
)
async def test_a_removal_that_a_crash_cut_off_is_decided_at_the_next_start(
    database: Database, names: list[str], stays: bool
) -> None:
    removal = await _removal(database, Users(names))
    await scoped(database, "things").update(ORG, {"_id": "1"}, {"$set": {"removal": "dead attempt"}})
    assert not await _visible(database)
    await removal.resume()
    await removal.resume()
    assert await _visible(database) is stays
    assert await scoped(database, "things").count(ORG, {}) == int(stays)
