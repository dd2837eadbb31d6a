"""Permission keys: which there are, and what a set of held keys grants."""

import pytest

from netautod.core.errors import Forbidden
from netautod.core.identity.caller import Caller, OrgId
from netautod.core.identity.permissions import common_permissions, grants, is_permission, of_roles


@pytest.mark.parametrize(
    ("key", "known"),
    [
        pytest.param("*", True, id="everything"),
        pytest.param("docs.manage", True, id="a key"),
        pytest.param("devices.*", True, id="a wildcard"),
        pytest.param("devices.access.*", False, id="a wildcard below a key"),
        pytest.param("DEVICES.ACCESS", False, id="capitals"),
        pytest.param("devices", False, id="half a key"),
        pytest.param("**", False, id="two stars"),
    ],
)
def test_which_permissions_there_are(key: str, known: bool) -> None:
    assert is_permission(key) is known


@pytest.mark.parametrize(
    ("held", "wanted", "granted"),
    [
        pytest.param(["*"], "devices.manage", True, id="everything"),
        pytest.param(["devices.manage"], "devices.access", True, id="implied"),
        pytest.param(["devices.access"], "devices.manage", False, id="not the other way round"),
        pytest.param(["docs.manage"], "docs.read", True, id="writing documents implies reading them"),
        pytest.param(["docs.manage"], "notes.read", False, id="but not notes"),
        pytest.param(["notes.read"], "docs.read", False, id="notes are not documents"),
        pytest.param(["*"], "notes.read", False, id="everything does not name notes"),
        pytest.param(["notes.*"], "notes.read", False, id="nor does their family"),
        pytest.param(["*", "notes.read"], "notes.read", True, id="named beside everything"),
        pytest.param(["devices.*"], "devices.manage", True, id="a family"),
        pytest.param(["devices.*"], "devicesx.manage", False, id="not a longer name"),
        pytest.param(["devices.manage"], "devices.*", False, id="a key does not grant its family"),
        pytest.param(["users.manage"], "*", False, id="nor everything"),
        pytest.param([], "devices.access", False, id="nothing"),
    ],
)
def test_what_a_permission_grants(held: list[str], wanted: str, granted: bool) -> None:
    assert grants(held, wanted) is granted
    caller = Caller(user_id="u", org_id=OrgId("o"), username="n", permissions=frozenset(held))
    if granted:
        caller.require(wanted)
    else:
        with pytest.raises(Forbidden):
            caller.require(wanted)


@pytest.mark.parametrize(
    ("keys", "notes"),
    [
        pytest.param(["*"], True, id="everything"),
        pytest.param(["notes.*"], True, id="their family"),
        pytest.param(["notes.read"], True, id="named"),
        pytest.param(["docs.*"], False, id="documents"),
    ],
)
def test_the_wildcards_of_roles_grant_what_a_token_has_to_name(keys: list[str], notes: bool) -> None:
    assert grants(of_roles(keys), "notes.read") is notes
    assert of_roles(keys) >= set(keys)


@pytest.mark.parametrize(
    ("token", "owner", "both"),
    [
        pytest.param({"*"}, {"devices.access"}, {"devices.access"}, id="everything, of little"),
        pytest.param({"devices.*"}, {"*"}, {"devices.*"}, id="a wildcard, of everything"),
        pytest.param({"devices.*"}, {"devices.manage", "docs.manage"}, {"devices.manage"}, id="of keys"),
        pytest.param({"devices.access"}, {"devices.manage"}, {"devices.access"}, id="implied by the owner's"),
        pytest.param({"devices.manage"}, {"devices.access"}, {"devices.access"}, id="implied by the token's"),
        pytest.param({"users.manage"}, {"docs.manage"}, set(), id="nothing in common"),
        pytest.param({"*"}, {"*"}, {"*"}, id="both everything"),
        pytest.param(set(), {"*"}, set(), id="no permission"),
        pytest.param({"*"}, {"*", "notes.read"}, {"*"}, id="notes that the token does not name"),
        pytest.param({"notes.*"}, {"*", "notes.read"}, {"notes.*"}, id="notes by a wildcard of the token"),
        pytest.param({"notes.read"}, {"*", "notes.read"}, {"notes.read"}, id="notes by their name"),
    ],
)
def test_what_two_sets_of_keys_grant(token: set[str], owner: set[str], both: set[str]) -> None:
    assert common_permissions(frozenset(token), frozenset(owner)) == both
    assert common_permissions(frozenset(owner), frozenset(token)) == both
