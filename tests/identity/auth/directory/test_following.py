"""Users who follow their directory: name, mail and roles, at a login and at the look-up behind a refresh."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from netautod.identity.auth.models import LoginRequest
from netautod.identity.users.models import NewUser, User
from netautod.plugin_api import Identity, Lookup, ProvisioningRules, RoleMap
from tests.identity.auth.directory.support import Directory
from tests.identity.auth.support import INFO, Node, ServeNode, start_node
from tests.support.client import ApiClient
from tests.support.installation import Installation

ROLE_MAP = RoleMap.parse(["operator = ops", "viewer = net admins", "admin = root"])
ADA = Identity(username="ada", external_ids=("entry-1",), groups=("ops",))
OVERAGE = "the token leaves the claim groups out"


class Telling(Directory):
    """A directory that tells one identity, at logins and look-ups."""

    identity: Identity = ADA

    async def authenticate(self, username: str, password: str) -> Identity | None:
        return self.identity

    def tell(self, **fields: Any) -> None:
        self.identity = Identity(**{"username": "ada", "external_ids": ("entry-1",), **fields})
        self.says = lambda: Lookup(identity=self.identity)


@dataclass(frozen=True, kw_only=True)
class Followed:
    node: Node
    directory: Telling
    user_id: str
    admin: ApiClient

    async def log_in(self) -> None:
        await self.node.auth.login("ldap", LoginRequest(username="ada", password="right"), INFO)

    async def look_up(self) -> None:
        user = await self.user()
        tokens = await self.node.auth.begin(user, provider="ldap", client_type="admin_ui", info=INFO)
        await self.node.auth.refresh(tokens.refresh_token, INFO)
        await self.node.parts.lookups.settled()
        self.node.clock.move(10_000)

    async def user(self) -> User:
        found = await self.node.users.find(self.user_id)
        assert found is not None
        return found

    async def shown(self) -> dict[str, Any]:
        admin = self.admin.with_token((await self.node.log_in()).access_token)
        shown: dict[str, Any] = (await admin.get(f"/api/users/{self.user_id}")).expect()
        return shown

    async def audited(self, action: str) -> list[dict[str, Any]]:
        return [row["details"] for row in await self.node.documents("audit_events", {"action": action})]


@pytest.fixture
async def followed(installation: Installation, http: ServeNode) -> Followed:
    directory = Telling(provisioning=ProvisioningRules(role_map=ROLE_MAP))
    node = await start_node(installation, plugins=[directory])
    new = NewUser(username="ada", roles=("operator",), auth_provider="ldap", external_id="entry-1")
    user = await node.users.create(await installation.system(), new)
    return Followed(node=node, directory=directory, user_id=user.id, admin=http(node))


Way = Callable[[Followed], Awaitable[None]]
WAYS = pytest.mark.parametrize(
    "way",
    [pytest.param(Followed.log_in, id="at a login"), pytest.param(Followed.look_up, id="at a look-up")],
)
OPS: dict[str, Any] = {"groups": ("ops",)}


@WAYS
async def test_mail_and_names_are_taken_over(followed: Followed, way: Way) -> None:
    followed.directory.tell(
        username="Ada.King", email="king@example.net", display_name="Ada King", other_usernames=(), **OPS
    )
    await way(followed)
    user = await followed.user()
    assert (user.username, user.email, user.display_name) == ("ada.king", "king@example.net", "Ada King")
    assert user.role_names == ["operator"]
    [renamed] = [details for details in await followed.audited("user.update") if "old_username" in details]
    assert (renamed["old_username"], renamed["username"]) == ("ada", "ada.king")


@WAYS
@pytest.mark.parametrize("release", ["this", "an earlier one"])
async def test_the_name_of_a_renamed_user_opens_nothing_of_that_user_for_the_next_who_gets_it(
    followed: Followed, way: Way, release: str
) -> None:
    if release != "this":
        await followed.node.installation.database.collection("users").update(
            {"_id": followed.user_id}, {"$unset": {"ssh_principals": ""}}
        )
    followed.directory.tell(username="ada.king", other_usernames=(), **OPS)
    await way(followed)
    assert (await followed.user()).ssh_principals == ("ada",)
    new = NewUser(username="ada", roles=("operator",), auth_provider="ldap", external_id="entry-2")
    next_ada = await followed.node.users.create(await followed.node.installation.system(), new)
    assert next_ada.ssh_principals == ()


@WAYS
@pytest.mark.parametrize(
    "told",
    [
        pytest.param({}, id="not told"),
        pytest.param({"email": "a" * 300, "display_name": "n" * 256}, id="too long"),
        pytest.param({"email": "", "display_name": ""}, id="empty"),
    ],
)
async def test_mail_and_name_that_are_not_told_stay(
    followed: Followed, way: Way, told: dict[str, Any]
) -> None:
    followed.directory.tell(email="ada@example.net", display_name="Ada", **OPS)
    await way(followed)
    followed.directory.tell(**told, **OPS)
    await way(followed)
    user = await followed.user()
    assert (user.email, user.display_name) == ("ada@example.net", "Ada")


@WAYS
@pytest.mark.parametrize(
    "owner",
    [
        pytest.param({"auth_provider": "local", "password": "a long enough secret"}, id="a local user"),
        pytest.param({"auth_provider": "ldap", "external_id": "entry-2"}, id="a user of the directory"),
        pytest.param({"auth_provider": "ldap"}, id="a user who has not logged in yet"),
    ],
)
async def test_a_username_that_is_taken_stays(
    followed: Followed, way: Way, owner: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    system = await followed.node.installation.system()
    other = await followed.node.users.create(system, NewUser(username="king", roles=(), **owner))
    followed.directory.tell(username="king", groups=("root",))
    with caplog.at_level(logging.WARNING):
        await way(followed)
    user = await followed.user()
    assert (user.username, user.role_names) == ("ada", ["admin"])
    assert "calls the user ada king now, which is the name of another user" in caplog.text
    kept = await followed.node.users.find(other.id)
    assert kept is not None
    assert (kept.username, kept.role_names, kept.external_id) == ("king", [], owner.get("external_id"))


@pytest.mark.parametrize(
    ("username", "others"),
    [
        pytest.param("ADA", (), id="in another case"),
        pytest.param("countess", ("countess", "ada"), id="one of several names"),
        pytest.param("not a username", (), id="a name that is not valid here"),
    ],
)
async def test_a_username_that_is_no_other_one_stays(
    followed: Followed, username: str, others: tuple[str, ...]
) -> None:
    followed.directory.tell(username=username, other_usernames=others, **OPS)
    await followed.log_in()
    assert (await followed.user()).username == "ada"


async def test_the_principals_of_certificates_do_not_follow_the_name(followed: Followed) -> None:
    before = (await followed.user()).ssh_principals
    followed.directory.tell(username="root", **OPS)
    await followed.log_in()
    user = await followed.user()
    assert (user.username, user.ssh_principals) == ("root", before)


@WAYS
async def test_groups_that_are_unknown_leave_the_roles_with_a_warning(
    followed: Followed, way: Way, caplog: pytest.LogCaptureFixture
) -> None:
    followed.directory.tell(groups=("root",), groups_unknown=OVERAGE, email="new@example.net")
    with caplog.at_level(logging.WARNING):
        await way(followed)
        await way(followed)
    shown = await followed.shown()
    warning = f"{OVERAGE}: the roles stay as they are"
    assert (shown["roles"], shown["group_warning"]) == (["operator"], warning)
    assert shown["email"] == "new@example.net"
    assert caplog.text.count(warning) == 1
    assert await followed.audited("auth.groups_unknown") == [
        {"username": "ada", "auth_provider": "ldap", "reason": warning}
    ]
    followed.directory.tell(groups=())
    await way(followed)
    shown = await followed.shown()
    assert (shown["roles"], shown["group_warning"]) == ([], None)


@WAYS
@pytest.mark.parametrize(
    ("text", "parts", "roles", "warned"),
    [
        pytest.param("net admins", ("net", "admins"), ["viewer"], False, id="the name of one group"),
        pytest.param("ops, root", ("ops", "root"), ["operator"], True, id="several: held roles stay"),
        pytest.param("lab, root", ("lab", "root"), [], True, id="several: none is given"),
    ],
)
async def test_a_text_gives_the_roles_of_one_group_or_keeps_those_of_several(
    followed: Followed, way: Way, text: str, parts: tuple[str, ...], roles: list[str], warned: bool
) -> None:
    followed.directory.tell(groups=(text,), possible_groups=parts)
    await way(followed)
    shown = await followed.shown()
    assert shown["roles"] == roles
    assert (shown["group_warning"] is not None) is warned


async def test_no_warning_where_no_role_depends_on_groups(installation: Installation) -> None:
    directory = Telling(provisioning=ProvisioningRules(auto_provision=True, default_roles=("viewer",)))
    node = await start_node(installation, plugins=[directory])
    directory.tell(groups_unknown=OVERAGE)
    await node.auth.login("ldap", LoginRequest(username="ada", password="right"), INFO)
    user = await node.users.by_username("ada")
    assert user is not None
    assert (user.role_names, user.group_warning) == (["viewer"], None)


async def test_a_user_who_is_made_with_unknown_groups_is_warned_of(installation: Installation) -> None:
    rules = ProvisioningRules(auto_provision=True, default_roles=("viewer",), role_map=ROLE_MAP)
    directory = Telling(provisioning=rules)
    node = await start_node(installation, plugins=[directory])
    directory.tell(groups_unknown=OVERAGE)
    await node.auth.login("ldap", LoginRequest(username="ada", password="right"), INFO)
    user = await node.users.by_username("ada")
    assert user is not None
    assert (user.role_names, OVERAGE in (user.group_warning or "")) == (["viewer"], True)


async def test_a_warning_is_read_only(followed: Followed) -> None:
    admin = followed.admin.with_token((await followed.node.log_in()).access_token)
    path = f"/api/users/{followed.user_id}"
    (await admin.put(path, {"group_warning": "mine"})).expect()
    assert (await admin.get(path)).expect()["group_warning"] is None
