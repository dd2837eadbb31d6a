"""POST /api/auth/ldap and /api/auth/ldap/test: the session of the right user, or none."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import pytest

from netautod.core.identity.permissions import KNOWN_PERMISSIONS
from netautod.identity.users.models import NewUser, User
from netautod.plugin_api import Identity, ProbeResult, ProviderUnavailable, ProvisioningRules
from netautod_ldap.provider import LdapProvider
from tests.identity.auth.support import Node, ServeNode, start_node
from tests.plugins.ldap.conftest import SearchSettings
from tests.support.client import ApiClient, assert_error
from tests.support.installation import PASSWORD as LOCAL_PASSWORD
from tests.support.installation import Installation
from tests.support.programs.slapd import ADA, GRACE, PASSWORD, Slapd, changed

INVALID = "Invalid username or password. "


@dataclass(frozen=True, kw_only=True)
class Setup:
    node: Node
    client: ApiClient

    async def log_in(self, username: str = "ada", password: str = PASSWORD) -> str | None:
        """Log in; return the user's id, None if the login was refused with the generic text."""
        body = {"username": username, "password": password}
        answer = await self.client.post("/api/auth/ldap", body)
        if answer.status == 401:
            assert_error(answer, 401, INVALID)
            return None
        assert answer.status == 200, answer.content
        me = await self.client.with_token(answer.json["access_token"]).get("/api/auth/me")
        assert me.json["auth_provider"] == "ldap"
        return str(me.json["id"])

    async def add(self, username: str, *roles: str, **options: str) -> User:
        new = NewUser(username=username, roles=roles, auth_provider="ldap", **options)  # type: ignore[arg-type]
        return await self.node.users.create(await self.node.installation.system(), new)

    async def user(self, username: str) -> User:
        found = await self.node.users.by_username(username)
        assert found is not None
        return found


Start = Callable[..., Awaitable[Setup]]


@pytest.fixture
async def start(
    installation: Installation,
    searching: SearchSettings,
    http: ServeNode,
) -> AsyncIterator[Start]:
    """Return a function: `setup = await start(auto_provision=True, ...)` starts a node with users from
    slapd."""
    providers: list[LdapProvider] = []

    async def started(**settings: object) -> Setup:
        provider = LdapProvider(searching(**settings))
        providers.append(provider)
        node = await start_node(installation, plugins=[provider])
        return Setup(node=node, client=http(node))

    yield started
    for provider in providers:
        await provider.close()


async def test_a_user_that_an_administrator_made_logs_in_and_is_bound(start: Start) -> None:
    setup = await start()
    user = await setup.add("ada", "operator")
    assert await setup.log_in() == user.id
    bound = await setup.user("ada")
    assert bound.external_id is not None
    assert len(bound.external_id) == 36
    assert bound.role_names == ["operator"]
    assert (await setup.node.documents("sessions"))[0]["auth_provider"] == "ldap"
    assert await setup.node.actions() == ["auth.login"]
    assert await setup.log_in() == user.id


@pytest.mark.parametrize(
    "external_id",
    [
        pytest.param(ADA, id="as it was written"),
        pytest.param(ADA.replace("\\,", "\\2C"), id="as OpenLDAP spells it"),
        pytest.param(ADA.upper().replace(",OU", ", OU "), id="in capitals, with spaces"),
        pytest.param(ADA.replace("cn=Lovelace\\, Ada", 'CN="Lovelace, Ada"'), id="in quotes"),
    ],
)
async def test_a_user_that_was_made_with_the_dn(start: Start, external_id: str) -> None:
    setup = await start()
    user = await setup.add("ada", "viewer", external_id=external_id)
    assert await setup.log_in() == user.id
    assert len((await setup.user("ada")).external_id or "") == 36


async def test_a_dn_finds_a_user_of_another_name(start: Start) -> None:
    setup = await start()
    user = await setup.add(
        "countess", "viewer", external_id="CN=lovelace\\2C ada,ou=People,dc=example,dc=net"
    )
    assert await setup.log_in() == user.id


@pytest.mark.parametrize(
    ("external_id", "name"),
    [
        pytest.param(GRACE, "ada", id="the name of a user who is bound to another entry"),
        pytest.param("11111111-1111-1111-1111-111111111111", "ada", id="the name of an entry that is gone"),
    ],
)
async def test_a_name_that_is_bound_to_another_entry_is_refused(
    start: Start, external_id: str, name: str
) -> None:
    setup = await start(auto_provision=True)
    await setup.add(name, "admin", external_id=external_id)
    assert await setup.log_in() is None
    assert (await setup.user(name)).role_names == ["admin"]


async def test_a_local_users_name_is_refused_and_the_user_stays_as_he_is(
    start: Start, installation: Installation
) -> None:
    setup = await start(auto_provision=True)
    await installation.add("ada", "admin")
    assert await setup.log_in() is None
    user = await setup.user("ada")
    assert (user.auth_provider, user.external_id) == ("local", None)
    refused = await setup.client.post("/api/auth/ldap", {"username": "ada", "password": LOCAL_PASSWORD})
    assert_error(refused, 401)


async def test_a_directorys_user_cannot_use_the_local_login(start: Start) -> None:
    setup = await start()
    await setup.add("ada", "viewer")
    answer = await setup.client.post("/api/auth/login", {"username": "ada", "password": PASSWORD})
    assert_error(answer, 401, INVALID)


async def test_a_first_login_makes_a_user_only_with_auto_provisioning(start: Start) -> None:
    closed = await start()
    assert await closed.log_in() is None
    assert await closed.node.users.by_username("ada") is None
    open_ = await start(auto_provision=True, default_roles=("viewer",))
    made = await open_.log_in()
    user = await open_.user("ada")
    assert user.id == made
    assert (user.email, user.display_name) == ("ada@example.net", "Ada Lovelace")
    assert (user.role_names, user.org_id) == (
        ["viewer"],
        await open_.node.installation.organizations.default_id(),
    )
    assert await open_.log_in() == made


async def test_groups_give_roles_and_take_them_away(start: Start, installation: Installation) -> None:
    role_map = (
        "operator = Net Admins",
        "admin = cn=nobody,ou=groups,dc=example,dc=net",
        "viewer = operators",
    )
    setup = await start(auto_provision=True, role_map=role_map)
    made = await setup.log_in()
    assert (await setup.user("ada")).role_names == ["operator", "viewer"]
    # Somebody gives her a role that the map names, without the group: it goes at the next login.
    await setup.node.users.update(await installation.system(), str(made), {"roles": ["admin", "viewer"]})
    assert await setup.log_in() == made
    assert (await setup.user("ada")).role_names == ["operator", "viewer"]


async def test_roles_that_the_map_does_not_name_stay(start: Start) -> None:
    setup = await start(role_map=("viewer = operators",))
    await setup.add("grace", "operator")
    await setup.log_in("grace")
    assert (await setup.user("grace")).role_names == ["operator", "viewer"]


async def test_no_user_without_a_mapped_group_is_created(start: Start) -> None:
    setup = await start(auto_provision=True, role_map=("admin = others",))
    assert await setup.log_in() is None


async def test_a_role_that_does_not_exist_refuses_the_login(start: Start) -> None:
    setup = await start(auto_provision=True, default_roles=("no such role",))
    assert await setup.log_in() is None
    assert await setup.node.users.by_username("ada") is None


async def test_a_disabled_user_is_refused(start: Start, installation: Installation) -> None:
    setup = await start()
    user = await setup.add("ada", "viewer")
    await setup.node.users.update(await installation.system(), user.id, {"is_active": False})
    assert await setup.log_in() is None


@pytest.mark.parametrize(
    ("username", "password"),
    [
        pytest.param("ada", "wrong", id="a wrong password"),
        pytest.param("ada", " ", id="a blank password"),
        pytest.param("nobody", PASSWORD, id="an unknown name"),
        pytest.param("*)(uid=*", PASSWORD, id="filter characters"),
        pytest.param("admin", LOCAL_PASSWORD, id="a local user"),
    ],
)
async def test_every_failure_looks_the_same_and_is_counted(
    start: Start, username: str, password: str
) -> None:
    setup = await start()
    await setup.add("ada", "viewer")
    for left in (9, 8):
        answer = await setup.client.post("/api/auth/ldap", {"username": username, "password": password})
        assert_error(answer, 401, f"{INVALID}{left} attempts remaining.")
    events = await setup.node.documents("audit_events", {"action": "auth.login_failed"})
    assert [event["details"]["auth_provider"] for event in events] == ["ldap", "ldap"]
    assert PASSWORD not in str(events)


class Away:
    """A provider whose directory does not answer."""

    name = "ldap"
    provisioning = ProvisioningRules()

    async def authenticate(self, username: str, password: str) -> Identity | None:
        raise ProviderUnavailable("the secret reason")

    async def probe(self, username: str | None, password: str | None) -> ProbeResult:
        return ProbeResult(success=False, message="nobody there")

    async def close(self) -> None:
        return


@pytest.fixture
async def away(installation: Installation, http: ServeNode) -> tuple[Node, ApiClient]:
    node = await start_node(installation, plugins=[Away()])
    return node, http(node)


async def test_a_directory_that_is_away_is_a_401_that_is_not_counted(away: tuple[Node, ApiClient]) -> None:
    node, client = away
    for _ in range(12):
        answer = await client.post("/api/auth/ldap", {"username": "ada", "password": PASSWORD})
        assert_error(answer, 401, "Invalid username or password.")
        assert "secret reason" not in answer.json["error"]
    events = await node.documents("audit_events", {"action": "auth.login_failed"})
    assert len(events) == 12
    assert all(event["details"]["provider_unavailable"] for event in events)


async def test_the_test_route_is_for_administrators(away: tuple[Node, ApiClient]) -> None:
    node, client = away
    assert_error(await client.post("/api/auth/ldap/test", {}), 401)
    await node.installation.add("oscar", "operator")
    oscar = client.with_token((await node.log_in("oscar")).access_token)
    assert_error(await oscar.post("/api/auth/ldap/test", {}), 403)
    admin = client.with_token((await node.log_in()).access_token)
    answer = await admin.post("/api/auth/ldap/test")
    assert answer.status == 200
    assert (answer.json["success"], answer.json["message"]) == (False, "nobody there")
    for body in ({"username": {"$ne": ""}}, {"password": ["x"]}, {"user": "x"}):
        assert_error(await admin.post("/api/auth/ldap/test", body), 400)


@pytest.mark.parametrize("path", ["/api/auth/ldap/test", "/api/auth/providers/ldap/test"])
async def test_the_test_routes_need_a_role_that_grants_all(away: tuple[Node, ApiClient], path: str) -> None:
    """Check sessions, and API tokens by their own permissions and those that their owners have now."""
    node, client = away
    nearly = {"name": "nearly", "permissions": list(KNOWN_PERMISSIONS)}
    admin = client.with_token((await node.log_in()).access_token)
    (await admin.post("/api/roles", nearly)).expect(201)
    await node.installation.add("manager", "nearly")
    manager = client.with_token((await node.log_in("manager")).access_token)
    assert_error(await manager.post(path), 403)
    ada = await node.installation.add("second", "admin")
    second = client.with_token((await node.log_in("second")).access_token)
    tokens = {}
    for name, permissions in (("all", ["*"]), ("system", ["system.*"])):
        made = await second.post("/api/auth/tokens", {"name": name, "permissions": permissions})
        tokens[name] = client.with_token(made.expect(201)["token"])
    assert_error(await tokens["system"].post(path), 403)
    assert (await tokens["all"].post(path)).status == 200
    (await admin.put(f"/api/users/{ada.id}", {"roles": ["nearly"]})).expect()
    assert_error(await tokens["all"].post(path), 403)


async def test_the_test_route_tries_a_users_password(start: Start) -> None:
    setup = await start()
    admin = setup.client.with_token((await setup.node.log_in()).access_token)
    answer = await admin.post("/api/auth/ldap/test", {"username": "ada", "password": PASSWORD})
    assert answer.json["success"]
    assert "Lovelace" in answer.json["message"]
    events = await setup.node.documents("audit_events", {"action": "auth.ldap_test"})
    assert events[0]["details"] == {"success": True, "with_password": True}


async def test_the_test_route_is_no_place_to_guess_passwords(away: tuple[Node, ApiClient]) -> None:
    node, client = away
    admin = client.with_token((await node.log_in()).access_token)
    guess = {"username": "ada", "password": "wrong"}
    for _ in range(10):
        assert not (await admin.post("/api/auth/ldap/test", guess)).expect()["success"]
    refused = await admin.post("/api/auth/ldap/test", guess)
    assert_error(refused, 429, "Too many failed attempts. Please try again later.")
    assert refused.json["retry_after_secs"] == int(refused.headers["Retry-After"]) > 800
    for body in ({}, {"username": "ada"}, {"username": "bob", "password": "wrong"}):
        assert (await admin.post("/api/auth/ldap/test", body)).status == 200
    assert (await node.log_in()).access_token  # no login is counted


async def test_the_test_route_says_that_a_name_is_not_valid_here(start: Start) -> None:
    setup = await start(username_attribute="displayName")
    admin = setup.client.with_token((await setup.node.log_in()).access_token)
    for body in ({"username": "ada"}, {"username": "ada", "password": PASSWORD}):
        answer = (await admin.post("/api/auth/ldap/test", body)).expect()
        assert not answer["success"]
        assert "the username 'Ada Lovelace' is not valid here, which takes 1 to 64" in answer["message"]


async def test_mail_and_names_follow_the_directory(directory: Slapd, start: Start) -> None:
    setup = await start(auto_provision=True, default_roles=("viewer",))
    made = await setup.log_in("grace")
    for attribute, value in (("mail", "hopper@example.net"), ("displayName", "Grace"), ("uid", "hopper")):
        await changed(directory, f"dn: {GRACE}\nchangetype: modify\nadd: {attribute}\n{attribute}: {value}")
    try:
        # A second name is no other name: she keeps the first.
        assert await setup.log_in("hopper") == made
        user = await setup.user("grace")
        assert (user.email, user.display_name) == ("hopper@example.net", "Grace")
    finally:
        for attribute in ("mail", "displayName"):
            await changed(directory, f"dn: {GRACE}\nchangetype: modify\ndelete: {attribute}")
        await changed(directory, f"dn: {GRACE}\nchangetype: modify\ndelete: uid\nuid: hopper")


async def test_a_provider_that_is_off(installation: Installation, http: ServeNode) -> None:
    node = await start_node(installation)
    client = http(node)
    body = {"username": "ada", "password": PASSWORD}
    assert_error(await client.post("/api/auth/ldap", body), 400, "LDAP login is not enabled")
    admin = client.with_token((await node.log_in()).access_token)
    assert_error(await admin.post("/api/auth/ldap/test"), 400, "LDAP login is not enabled")
    listed = (await client.get("/api/auth/providers")).json["providers"]
    assert [(entry["name"], entry["enabled"]) for entry in listed] == [
        ("local", True),
        ("ldap", False),
        ("oidc", False),
    ]


async def test_the_provider_list_with_ldap(start: Start) -> None:
    setup = await start()
    listed = (await setup.client.get("/api/auth/providers")).json["providers"]
    assert [entry["name"] for entry in listed if entry["enabled"]] == ["local", "ldap"]
