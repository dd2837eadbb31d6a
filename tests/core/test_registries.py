"""References, followers, and the removal of records that are not in use, also after a crash."""

from collections.abc import Sequence

import pytest

from netautod.core.errors import Conflict, NotFound
from netautod.core.identity import OrgId
from netautod.core.registries import Followers, References, Uses
from netautod.store.client import Database
from netautod.store.removal import VISIBLE, Removal
from netautod.store.scoped import scoped

ORG = OrgId("org")


class Users:
    """A finder whose answer the test sets."""

    def __init__(self, kind: str, names: Sequence[str] = ()) -> None:
        self.kind = kind
        self.names = list(names)
        self.asked = 0
        self.appear_at = 0

    async def find(self, org_id: OrgId, record_id: str, limit: int) -> Uses:
        self.asked += 1
        if self.asked == self.appear_at:
            self.names.append("late")
        return Uses(kind=self.kind, names=self.names[:limit], count=len(self.names))


@pytest.mark.parametrize(
    ("devices", "tasks", "text"),
    [
        pytest.param(["a"], [], "Thing is in use by device a", id="one user"),
        pytest.param([], ["t"], "Thing is in use by task t", id="one of the second kind"),
        pytest.param(["a", "b"], ["t"], "Thing is in use by device a, b; task t", id="two kinds"),
        pytest.param(list("abcde"), [], "Thing is in use by device a, b, c and 2 more", id="many"),
    ],
)
async def test_the_text_names_the_users(devices: list[str], tasks: list[str], text: str) -> None:
    references = References("Thing")
    references.register(Users("device", devices).find)
    references.register(Users("task", tasks).find)
    with pytest.raises(Conflict) as caught:
        await references.refuse_if_used(ORG, "1")
    assert caught.value.text == text


async def test_followers_are_told_in_their_order() -> None:
    told: list[tuple[str, OrgId, str]] = []
    followers = Followers()

    async def first(org_id: OrgId, record_id: str) -> None:
        told.append(("first", org_id, record_id))

    async def second(org_id: OrgId, record_id: str) -> None:
        told.append(("second", org_id, record_id))

    followers.register(first)
    followers.register(second)
    await followers.notify(ORG, "1")
    assert told == [("first", ORG, "1"), ("second", ORG, "1")]


async def _removal(database: Database, users: Users) -> Removal:
    references = References("Thing")
    references.register(users.find)
    await scoped(database, "things").insert(ORG, {"_id": "1"})
    return Removal(database, "things", references)


async def _visible(database: Database) -> bool:
    return await scoped(database, "things").find_one(ORG, {"_id": "1", **VISIBLE}) is not None


async def test_an_unused_record_is_removed_once(database: Database) -> None:
    removal = await _removal(database, Users("device"))
    with pytest.raises(NotFound):
        await removal.remove(OrgId("another"), "1")
    await removal.remove(ORG, "1")
    assert await scoped(database, "things").count(ORG, {}) == 0
    with pytest.raises(NotFound, match="Thing not found"):
        await removal.remove(ORG, "1")


async def test_a_user_that_appears_after_the_record_was_hidden_brings_it_back(database: Database) -> None:
    users = Users("device")
    users.appear_at = 2
    removal = await _removal(database, users)
    with pytest.raises(Conflict, match="late"):
        await removal.remove(ORG, "1")
    assert await _visible(database)


@pytest.mark.parametrize(
    ("names", "stays"), [pytest.param([], False, id="unused"), pytest.param(["a"], True, id="used")]
)
async def test_a_removal_that_a_crash_cut_off_is_decided_at_the_next_start(
    database: Database, names: list[str], stays: bool
) -> None:
    removal = await _removal(database, Users("device", names))
    await scoped(database, "things").update(ORG, {"_id": "1"}, {"$set": {"removal": "dead attempt"}})
    assert not await _visible(database)
    await removal.resume()
    await removal.resume()
    assert await _visible(database) is stays
    assert await scoped(database, "things").count(ORG, {}) == int(stays)
