"""References name the users of a record; followers are told of changes in their order."""

from collections.abc import Sequence

import pytest

from netautod.core.errors import Conflict
from netautod.core.identity.caller import OrgId
from netautod.core.registries import Followers, References, Uses

ORG = OrgId("org")


class Users:
    """A finder of users of one kind."""

    def __init__(self, kind: str, names: Sequence[str]) -> None:
        self._kind = kind
        self._names = names

    async def find(self, org_id: OrgId, record_id: str, limit: int) -> Uses:
        return Uses(kind=self._kind, names=self._names[:limit], count=len(self._names))


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
