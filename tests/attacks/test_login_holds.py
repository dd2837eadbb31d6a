"""Attacks on logins: by strangers who fail on purpose, and by users who should be out."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from urllib.parse import parse_qs, urlencode

import pyotp
import pytest

from netautod.identity.auth.models import IssuedTokens
from netautod.identity.users.models import NewUser
from netautod.transport.outbound.addresses import AddressRules
from netautod.transport.outbound.client import GuardedClient
from netautod_ldap import LdapSettings
from netautod_ldap.provider import LdapProvider
from netautod_oidc import OidcSettings
from netautod_oidc.provider import OidcProvider
from tests.attacks.attackers import directory as hostile
from tests.attacks.attackers import strangers
from tests.identity.auth.support import INFO, Node, ServeNode, serve_node, start_node
from tests.plugins.ldap.conftest import SearchSettings
from tests.plugins.oidc.browser import Browser
from tests.plugins.oidc.test_real_providers import running
from tests.support.client import ApiClient, assert_error
from tests.support.execution import eventually
from tests.support.fetching import fetch
from tests.support.installation import Installation
from tests.support.programs.slapd import BASE, BLIND, PASSWORD, Slapd, changed
from tests.support.programs.started import free_port
from tests.support.serving import Servers

# --- Who is out of the directory is out here ---

MALLORY = f"uid=mallory,ou=people,{BASE}"
OPERATORS = f"cn=operators,ou=groups,{BASE}"
SOON = 5.0


def modified(entry: str, change: str) -> str:
    return f"dn: {entry}\nchangetype: modify\n{change}"


class Intruder:
    """Somebody with a session who keeps it alive."""

    def __init__(self, client: ApiClient, tokens: dict[str, str]) -> None:
        self.client = client
        self._tokens = tokens

    async def refresh(self) -> None:
        answer = await self.client.post("/api/auth/refresh", {"refresh_token": self._tokens["refresh_token"]})
        self._tokens = answer.expect()

    async def at(self, client: ApiClient) -> int:
        """How another node answers to the newest access token."""
        return (await client.with_token(self._tokens["access_token"]).get("/api/auth/me")).status

    async def is_out(self) -> bool:
        return await self.at(self.client) == 401

    async def roles(self) -> list[str]:
        me = await self.client.with_token(self._tokens["access_token"]).get("/api/auth/me")
        found: list[str] = me.expect()["roles"]
        return found


@pytest.fixture
async def mallory(directory: Slapd) -> AsyncIterator[None]:
    """A user of the directory, an operator there; gone after the test."""
    entry = "objectClass: inetOrgPerson\nobjectClass: shadowAccount\ncn: Mallory\nsn: M\nuid: mallory"
    await changed(
        directory,
        f"dn: {MALLORY}\nchangetype: add\n{entry}\nuserPassword: {PASSWORD}",
        modified(OPERATORS, f"add: uniqueMember\nuniqueMember: {MALLORY}"),
    )
    yield
    await changed(
        directory,
        f"dn: {MALLORY}\nchangetype: delete",
        modified(OPERATORS, f"delete: uniqueMember\nuniqueMember: {MALLORY}"),
        lenient=True,
    )


async def logged_in(
    installation: Installation, http: ServeNode, settings: LdapSettings
) -> tuple[Node, Intruder]:
    node = await start_node(installation, plugins=[LdapProvider(settings)])
    client = http(node)
    tokens = await client.post("/api/auth/ldap", {"username": "mallory", "password": PASSWORD})
    return node, Intruder(client, tokens.expect())


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(f"dn: {MALLORY}\nchangetype: delete", id="who was deleted there is out here"),
        pytest.param(
            modified(MALLORY, "add: shadowExpire\nshadowExpire: 1"),
            id="whose account ended there is out",
        ),
    ],
)
@pytest.mark.usefixtures("mallory")
async def test_a_refresh_does_not_keep_an_intruder_in(
    installation: Installation, http: ServeNode, searching: SearchSettings, directory: Slapd, change: str
) -> None:
    settings = searching(auto_provision=True, default_roles=("viewer",))
    node, intruder = await logged_in(installation, http, settings)
    elsewhere = http(await start_node(installation))
    assert await intruder.at(elsewhere) == 200
    await changed(directory, change)
    await intruder.refresh()
    assert await eventually(intruder.is_out, seconds=SOON)
    node.clock.move(1)
    assert await intruder.at(elsewhere) == 401
    (event,) = await node.documents("audit_events", {"action": "auth.directory_ended"})
    assert event["details"]["auth_provider"] == "ldap"


@pytest.mark.usefixtures("mallory")
async def test_a_refresh_does_not_keep_the_role_of_a_group_that_was_left(
    installation: Installation, http: ServeNode, searching: SearchSettings, directory: Slapd
) -> None:
    settings = searching(auto_provision=True, default_roles=("viewer",), role_map=("operator = operators",))
    _, intruder = await logged_in(installation, http, settings)
    assert await intruder.roles() == ["operator", "viewer"]
    await changed(directory, modified(OPERATORS, f"delete: uniqueMember\nuniqueMember: {MALLORY}"))
    await intruder.refresh()

    async def demoted() -> bool:
        return await intruder.roles() == ["viewer"]

    assert await eventually(demoted, seconds=SOON)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(hostile.answering(hostile.done(0)), id="a directory that shows nobody shuts nobody out"),
        pytest.param(hostile.answering(hostile.done(32)), id="nor does one that has no such place"),
        pytest.param(hostile.answering(hostile.done(50)), id="nor one that forbids to read"),
        pytest.param(hostile.answering(hostile.done(4)), id="nor one that stops half way"),
        pytest.param(
            hostile.answering(hostile.reference("ldap://other.example/ou=people"), hostile.done(0)),
            id="nor one that has the rest elsewhere",
        ),
        pytest.param(hostile.answering(b"\x65\x00"), id="nor one that speaks nonsense"),
        pytest.param(hostile.hanging_up, id="nor one that hangs up"),
        pytest.param(hostile.silent, id="nor one that never answers"),
    ],
)
async def test_whoever_stands_in_for_the_directory(
    installation: Installation, http: ServeNode, answer: hostile.Answer
) -> None:
    with hostile.hostile_directory(answer) as attacker:
        settings = LdapSettings(
            urls=(attacker.url,),
            start_tls=False,
            bind_dn="cn=reader",
            bind_password="reads",
            base_dn=f"ou=people,{BASE}",
            timeout_seconds=1,
            role_map=("operator = operators",),
        )
        node, user = await standing(installation, http, settings)
        await user.refresh()

        async def looked() -> bool:
            rows = await node.documents("directory_lookups")
            return attacker.searches > 0 and bool(rows) and rows[0]["free_at"] <= node.clock.now()

        assert await eventually(looked, seconds=20)
        assert await user.roles() == ["operator"]


@pytest.mark.usefixtures("mallory")
async def test_a_service_that_lost_its_right_to_read_shuts_nobody_out(
    installation: Installation, http: ServeNode, searching: SearchSettings
) -> None:
    node, user = await standing(installation, http, searching(bind_dn=BLIND))
    await user.refresh()

    async def looked() -> bool:
        rows = await node.documents("directory_lookups")
        return bool(rows) and rows[0]["free_at"] <= node.clock.now()

    assert await eventually(looked, seconds=SOON)
    assert await user.roles() == ["operator"]


async def standing(
    installation: Installation, http: ServeNode, settings: LdapSettings
) -> tuple[Node, Intruder]:
    """A user of the directory, an operator, who has logged in while all was well."""
    node = await start_node(installation, plugins=[LdapProvider(settings)])
    new = NewUser(
        username="mallory",
        roles=("operator",),
        auth_provider="ldap",
        external_id="6f1c8a80-0000-1000-8000-000000000001",
    )
    user = await node.users.create(await installation.system(), new)
    issued: IssuedTokens = await node.auth.begin(user, provider="ldap", client_type="admin_ui", info=INFO)
    return node, Intruder(http(node), issued.to_json())


async def test_a_login_that_the_identity_provider_took_back_is_not_refreshed(
    installation: Installation,
) -> None:
    """At a real provider: first the groups of its user change there, then all its tokens are revoked."""
    port, ours = free_port(), free_port()
    issuer, console = f"http://127.0.0.1:{port}", "https://console.example/done"
    settings = OidcSettings(
        issuer=issuer,
        client_id="netautod-tests",
        client_secret="a client's secret",
        callback_url=f"http://127.0.0.1:{ours}/api/auth/oidc/callback",
        redirect_uris=(console,),
        algorithms=("RS256",),
        auto_provision=True,
        default_roles=("viewer",),
        role_map=("operator = ops",),
    )
    claims = json.dumps({"sub": "subject-7", "preferred_username": "mallory", "groups": ["ops"]})
    command = (sys.executable, "-m", "oidc_provider_mock", "--port", str(port), "--user-claims", claims)
    async with AsyncExitStack() as stack:
        servers = await stack.enter_async_context(Servers())
        await stack.enter_async_context(running(*command, ready="running on"))
        guarded = GuardedClient(AddressRules.allowing(["127.0.0.1"]))
        node = await start_node(installation, plugins=[OidcProvider(settings, http=guarded)])
        client, browser = serve_node(servers, node, port=ours), Browser()
        query = urlencode({"redirect_uri": console})
        begin = f"http://127.0.0.1:{ours}/api/auth/oidc/authorize?{query}"
        page = await browser.follow(begin, until=f"{issuer}/oauth2/authorize")
        end = await browser.follow(page, {"sub": "subject-7"}, until=console)
        found = parse_qs(end.partition("#")[2])
        intruder = Intruder(client, {name: values[0] for name, values in found.items()})
        assert await intruder.roles() == ["operator", "viewer"]

        await told(f"{issuer}/users/subject-7", "PUT", {"preferred_username": "mallory", "groups": []})
        await intruder.refresh()

        async def demoted() -> bool:
            return await intruder.roles() == ["viewer"]

        assert await eventually(demoted, seconds=SOON)
        await told(f"{issuer}/users/subject-7/revoke-tokens", "POST", {})
        node.clock.move(900)
        await intruder.refresh()
        assert await eventually(intruder.is_out, seconds=SOON)


async def told(url: str, method: str, body: dict[str, object]) -> None:
    headers = {"Content-Type": "application/json"}
    answer = await fetch(url, method, headers=headers, body=json.dumps(body))
    assert answer.code < 300


# --- Strangers slow down nobody but strangers; a password alone is not enough, a weak one is none ---

DESK = "192.0.2.10"
OWN = "correct horse battery staple"


@pytest.fixture
async def nodes(installation: Installation) -> list[Node]:
    """Two nodes with a user alice, who has logged in at her desk."""
    made = [await start_node(installation), await start_node(installation)]
    await installation.add("alice", "viewer")
    return made


@pytest.fixture
async def clients(nodes: list[Node], http: ServeNode) -> list[ApiClient]:
    made = [http(node) for node in nodes]
    assert (await strangers.login(made[0], DESK, "alice", OWN)).status == 200
    return made


async def test_a_stranger_with_many_addresses_does_not_keep_alice_out_at_her_desk(
    nodes: list[Node], clients: list[ApiClient]
) -> None:
    await strangers.guess(clients, "alice", 18)
    for client in clients:
        assert (await strangers.login(client, DESK, "alice", OWN)).status == 200
    paused = sorted(pause for node in nodes for pause in node.pauses)
    assert paused == [0, 1, 2, 3, 4, 5]  # of strangers alone


async def test_a_stranger_has_no_more_tries_for_each_way_to_write_a_name(
    nodes: list[Node], clients: list[ApiClient]
) -> None:
    """Directories compare names without width, accents and what is not seen."""
    for number, typed in enumerate(("alice", "ALICE", "\uff41lice", "al\u00adice", "\u00e1lice") * 3):
        await strangers.guess(clients, typed, 1, first=number)
    assert [pause for node in nodes for pause in node.pauses] != []


@pytest.mark.parametrize("username", ["alice", "nobody"])
async def test_strangers_at_once_get_ten_answers_whether_or_not_there_is_such_a_user(
    clients: list[ApiClient], username: str
) -> None:
    answers = await strangers.guess_at_once(clients, username, 40)
    assert sorted(answer.status for answer in answers) == [401] * 16 + [429] * 24
    texts = {answer.json["error"] for answer in answers}
    assert texts == {
        "Invalid username or password. 9 attempts remaining.",
        "Too many failed login attempts. Please try again later.",
    }


async def test_a_thief_of_the_password_does_not_get_past_the_one_time_code(clients: list[ApiClient]) -> None:
    tokens = (await strangers.login(clients[0], DESK, "alice", OWN)).expect()
    alice = clients[0].with_token(tokens["access_token"])
    secret = (await alice.post("/api/auth/otp", {"password": OWN})).expect()["secret"]
    confirmed = await alice.post("/api/auth/otp/confirm", {"code": pyotp.TOTP(secret).now()})
    assert confirmed.status == 204
    answers = [
        await strangers.login(clients[number % 2], f"198.51.100.{number}", "alice", OWN, otp="000000")
        for number in range(14)
    ]
    assert [answer.status for answer in answers] == [401] * 10 + [429] * 4
    assert_error(await strangers.login(clients[0], DESK, "alice", OWN), 401, "One-time code required")


@pytest.mark.parametrize(
    "password",
    [
        pytest.param("Default-2026!", id="the organization's name with a year is no password"),
        pytest.param("Netaut0d@123", id="the product's name in signs is no password"),
        pytest.param("Alice!Password2026", id="the user's name with password is no password"),
        pytest.param("abcabdabcabdabcabd", id="a pattern over and over is no password"),
        pytest.param("p" * 63 + "!", id="one letter many times is no password"),
    ],
)
async def test_a_guessable_password_is_not_to_be_had(
    nodes: list[Node], clients: list[ApiClient], password: str
) -> None:
    admin = clients[0].with_token((await nodes[0].log_in()).access_token)
    alice = await nodes[0].users.by_username("alice")
    assert alice is not None
    user = {"username": "alice2", "display_name": "Alice", "password": password, "roles": []}
    assert_error(await admin.post("/api/users", user), 400, "password: ")
    assert_error(await admin.put(f"/api/users/{alice.id}", {"password": password}), 400, "password: ")
    tokens = (await strangers.login(clients[0], DESK, "alice", OWN)).expect()
    own = {"current_password": OWN, "new_password": password}
    changed_own = await clients[0].with_token(tokens["access_token"]).put("/api/auth/password", own)
    assert_error(changed_own, 400, "new_password: ")


async def test_who_knows_a_handed_out_password_reaches_nothing_before_it_is_changed(
    nodes: list[Node], clients: list[ApiClient]
) -> None:
    admin = clients[0].with_token((await nodes[0].log_in()).access_token)
    handed = {"username": "bob", "password": OWN, "roles": ["admin"], "must_change_password": True}
    assert (await admin.post("/api/users", handed)).status == 201
    tokens = (await strangers.login(clients[0], DESK, "bob", OWN)).expect()
    bob = clients[0].with_token(tokens["access_token"])
    others = f"/api/auth/sessions?user_id={(await admin.get('/api/auth/me')).json['id']}"
    for path in ("/api/users", "/api/audit", "/api/ssh-ca", "/api/roles", others):
        assert_error(await bob.get(path), 403, "Change your password first")
    machine = {"name": "way round", "permissions": ["*"]}
    assert_error(await bob.post("/api/auth/tokens", machine), 403, "Change your password first")
    same = {"current_password": OWN, "new_password": OWN}
    assert_error(await bob.put("/api/auth/password", same), 400, "has to be changed")
    new = {"current_password": OWN, "new_password": "vier gruene Kaefer tanzen"}
    assert (await bob.put("/api/auth/password", new)).status == 200
    assert (await bob.get("/api/users")).status == 200
