"""The login at the console with a password that slapd knows, and its end by slapd."""

from collections.abc import AsyncIterator

import pytest

from netautod.identity.users.models import NewUser
from netautod_ldap.provider import LdapProvider
from tests.identity.auth.support import Node, ServeNode, start_node
from tests.plugins.ldap.conftest import SearchSettings
from tests.support.installation import PASSWORD as LOCAL_PASSWORD
from tests.support.installation import Installation
from tests.support.programs import slapd
from tests.support.visitor import Visitor


@pytest.fixture
async def node(installation: Installation, searching: SearchSettings) -> AsyncIterator[Node]:
    provider = LdapProvider(searching())
    made = await start_node(installation, plugins=[provider])
    yield made
    await provider.close()


@pytest.fixture
async def visitor(node: Node, http: ServeNode) -> Visitor:
    await node.users.create(
        await node.installation.system(), NewUser(username="ada", roles=("viewer",), auth_provider="ldap")
    )
    return Visitor(base_url=http(node).base_url)


async def test_a_user_of_the_directory_chooses_it(node: Node, visitor: Visitor) -> None:
    page = await visitor.get("/login")
    assert [one.text for one in page.all("option")] == ["Local", "LDAP"]
    ada = {"username": "ada", "password": slapd.PASSWORD}
    page = await visitor.post("/login", {**ada, "provider": "local"}, status=400)
    assert "Invalid username or password. 9 attempts remaining." in page.text
    page = await visitor.post("/login", {**ada, "password": "x", "provider": "ldap"}, status=400)
    assert "Invalid username or password. 8 attempts remaining." in page.text
    (selected,) = (one for one in page.all("option") if "selected" in one.attributes)
    assert selected.text == "LDAP"
    page = await visitor.post("/login", {**ada, "password": " ", "provider": "ldap"}, status=400)
    assert "password: Missing" in page.text
    await visitor.post("/login", {**ada, "provider": "ldap", "next": "/account"})
    page = await visitor.get("/account")
    assert "Your password is managed by LDAP." in page.text
    (session,) = await node.documents("sessions")
    assert (session["auth_provider"], session["client_type"]) == ("ldap", "admin_ui")
    admin = Visitor(base_url=visitor.base_url)
    await admin.get("/login?provider=ldap")
    (selected,) = (one for one in admin.page.all("option") if "selected" in one.attributes)
    assert selected.text == "LDAP"
    credentials = {"username": "admin", "password": LOCAL_PASSWORD, "provider": "ldap"}
    await admin.post("/login", credentials, status=400)


async def test_the_directory_is_searched_again_while_pages_are_opened(node: Node, visitor: Visitor) -> None:
    """Look the user up, as a refresh does for the sessions of tokens, which those of the console do not
    have."""
    await visitor.get("/login")
    await visitor.post("/login", {"username": "ada", "password": slapd.PASSWORD, "provider": "ldap"})
    await visitor.get("/account", by_itself=True)
    await node.parts.lookups.settled()
    turns = await node.documents("directory_lookups")
    assert len(turns) == 1
    user = await node.users.by_username("ada")
    assert user is not None
    users = node.installation.database.collection("users")
    await users.update({"_id": user.id}, {"$set": {"external_id": "00000000-0000-0000-0000-000000000000"}})
    node.clock.move(901)
    await visitor.get("/account", by_itself=True)
    await node.parts.lookups.settled()
    page = await visitor.get("/account", status=303)
    assert page.headers["Location"].startswith("/login")
    assert "auth.directory_ended" in await node.actions()
