"""GET/POST /api/users, and what the command line does to users."""

import asyncio
from typing import Any

import pytest

from netautod.core.errors import Conflict, Forbidden, InvalidInput, NotFound
from netautod.core.identity.caller import system_caller
from netautod.identity.users.models import User, canonical_username
from tests.support.client import ApiClient, assert_error
from tests.support.installation import PASSWORD, Installation
from tests.support.serving import Serve

NEW = {"username": "carla", "password": PASSWORD, "roles": ["viewer"]}


@pytest.fixture
async def admin(started: Installation, serve: Serve) -> ApiClient:
    served = await serve(started.users)
    return served.client("*", org_id=await started.organizations.default_id())[0]


async def test_a_created_user_is_answered_and_listed(admin: ApiClient) -> None:
    body = {
        **NEW,
        "username": " Carla.B ",
        "email": "c@example.org",
        "display_name": "",
        "roles": ["viewer"] * 2,
    }
    created = await admin.post("/api/users", body)
    assert created.status == 201
    user = created.json
    assert user["username"] == "carla.b"
    assert (user["roles"], user["permissions"]) == (["viewer"], ["devices.access", "docs.read"])
    assert (user["email"], user["display_name"]) == ("c@example.org", None)
    assert (user["is_active"], user["auth_provider"], user["last_login_at"]) == (True, "local", None)
    listed = (await admin.get("/api/users")).json
    assert [found["username"] for found in listed["users"]] == ["admin", "carla.b"]
    assert listed["users"][1] == user
    second = (await admin.get("/api/users?limit=1&offset=1")).json
    assert ([found["username"] for found in second["users"]], second["total"]) == (["carla.b"], 2)


async def test_what_was_read_can_be_sent_back(admin: ApiClient) -> None:
    read = (await admin.post("/api/users", NEW)).json
    again = await admin.post(
        "/api/users", {**read, "username": "dora", "password": PASSWORD, "is_active": False}
    )
    assert again.status == 201
    assert again.json["id"] != read["id"]
    assert again.json["is_active"] is False


@pytest.mark.parametrize(
    ("change", "status", "text"),
    [
        pytest.param({"username": "Admin"}, 409, "username already exists", id="name taken in another case"),
        pytest.param({"username": "-a"}, 400, "username: 1 to 64", id="begins with a dash"),
        pytest.param({"username": "a" * 65}, 400, "username: 1 to 64", id="65 characters"),
        pytest.param({"username": "a b"}, 400, "username: 1 to 64", id="space inside"),
        pytest.param({"username": "\u212aarl"}, 400, "username: 1 to 64", id="Kelvin sign for k"),
        pytest.param({"username": {"$ne": ""}}, 400, "username: Not a valid string", id="operator object"),
        pytest.param({"password": "short"}, 400, "password: at least 12", id="short password"),
        pytest.param({"password": "password1234"}, 400, "password: is on the list", id="common password"),
        pytest.param(
            {"username": "carla.carlotta", "password": "Carla.Carlotta"}, 400, "username", id="the username"
        ),
        pytest.param({"password": None}, 400, "password: required", id="local without a password"),
        pytest.param({"roles": ["viewer", "bananas"]}, 400, "no role 'bananas'", id="unknown role"),
        pytest.param({"roles": [{"$gt": ""}]}, 400, "roles", id="operator object as a role"),
        pytest.param({"roles": None}, 400, "roles: Missing", id="no roles"),
        pytest.param({"auth_provider": "saml"}, 400, "there is no provider 'saml'", id="unknown provider"),
        pytest.param({"auth_provider": "S AML"}, 400, "auth_provider: Not the name", id="no provider's name"),
        pytest.param({"auth_provider": "ldap"}, 400, "password: only for local", id="LDAP with a password"),
        pytest.param({"external_id": "x"}, 400, "external_id: only for", id="local with an external id"),
        pytest.param({"email": "nobody"}, 400, "email: Not a valid email", id="no address"),
        pytest.param({"password_hash": "x"}, 400, "password_hash: Unknown field", id="a field of ours"),
        pytest.param({"session_epoch": 1}, 400, "session_epoch: Unknown field", id="another field of ours"),
    ],
)
async def test_a_bad_user_is_refused(
    untouched: Installation, serve: Serve, change: dict[str, Any], status: int, text: str
) -> None:
    served = await serve(untouched.users)
    client, _ = served.client("*", org_id=await untouched.organizations.default_id())
    assert_error(await client.post("/api/users", {**NEW, **change}), status, text)
    assert len(await untouched.users.all_users()) == 1


@pytest.mark.parametrize(
    ("held", "roles", "status"),
    [
        pytest.param(["users.manage"], ["viewer"], 403, id="a permission that the caller lacks"),
        pytest.param(["users.manage"], [], 201, id="no permission at all"),
        pytest.param(
            ["users.manage", "devices.manage", "docs.manage"], ["viewer"], 201, id="what is implied"
        ),
        pytest.param(["users.manage", "devices.*"], ["operator"], 403, id="some of many"),
        pytest.param(["users.*", "devices.access", "docs.read"], ["admin"], 403, id="everything"),
        pytest.param(["devices.access", "docs.read"], ["viewer"], 403, id="without users.manage"),
    ],
)
async def test_a_caller_grants_only_what_he_holds(
    started: Installation, serve: Serve, held: list[str], roles: list[str], status: int
) -> None:
    served = await serve(started.users)
    client, _ = served.client(*held, org_id=await started.organizations.default_id())
    assert (await client.post("/api/users", {**NEW, "roles": roles})).status == status


async def test_organizations_see_neither_each_others_users_nor_roles(
    started: Installation, serve: Serve
) -> None:
    other = await started.organizations.create_organization("b", admin="berta", password=PASSWORD)
    await started.database.collection("roles").insert(
        {"_id": "r", "org_id": await started.organizations.default_id(), "name": "secret", "permissions": []}
    )
    client, _ = (await serve(started.users)).client("*", org_id=other.organization.id)
    assert [user["username"] for user in (await client.get("/api/users")).json["users"]] == ["berta"]
    assert_error(await client.post("/api/users", {**NEW, "roles": ["secret"]}), 400, "no role 'secret'")
    assert_error(await client.post("/api/users", {**NEW, "username": "admin"}), 409, "already exists")
    made = await client.post("/api/users", {**NEW, "org_id": await started.organizations.default_id()})
    assert made.json["org_id"] == other.organization.id


async def test_users_of_other_providers_have_no_password_and_one_owner_per_external_id(
    admin: ApiClient, started: Installation
) -> None:
    ldap = {"username": "lara", "auth_provider": "ldap", "external_id": "uuid-1", "roles": []}
    assert (await admin.post("/api/users", ldap)).status == 201
    assert_error(await admin.post("/api/users", {**ldap, "username": "lars"}), 409, "external_id")
    assert (await admin.post("/api/users", {**ldap, "username": "o", "auth_provider": "oidc"})).status == 201
    lara = await started.users.by_username("lara")
    assert not await started.users.check_password(lara, PASSWORD)
    with pytest.raises(InvalidInput, match="kept by ldap"):
        await started.users.set_password(await started.system(), "lara", PASSWORD)


async def test_fifty_equal_names_at_once_make_one_user(admin: ApiClient, started: Installation) -> None:
    answers = await asyncio.gather(*(admin.post("/api/users", NEW) for _ in range(50)))
    statuses = sorted(answer.status for answer in answers)
    assert statuses == [201] + [409] * 49


async def test_a_password_reset_changes_the_password_and_both_epochs(started: Installation) -> None:
    before = await started.add("carla", "viewer")
    await started.users.set_password(await started.system(), "Carla", "another long password")
    after = await started.users.by_username("carla")
    assert after is not None
    assert (after.session_epoch, after.refresh_epoch) == (before.session_epoch + 1, before.refresh_epoch + 1)
    assert not await started.users.check_password(after, PASSWORD)
    assert await started.users.check_password(after, "another long password")


async def test_the_last_active_admin_stays(started: Installation) -> None:
    caller = await started.system()
    with pytest.raises(Conflict, match="last active admin"):
        await started.users.disable(caller, "admin")
    await started.add("second", "admin")
    results = await asyncio.gather(
        started.users.disable(caller, "admin"),
        started.users.disable(caller, "second"),
        return_exceptions=True,
    )
    assert any(isinstance(result, Conflict) for result in results)
    users: list[User] = await started.users.all_users()
    assert sum(user.is_active for user in users) >= 1


async def test_commands_reach_only_users_of_their_organization_and_rank(started: Installation) -> None:
    with pytest.raises(NotFound, match="User not found"):
        await started.users.disable(await started.system(), "nobody")
    other = await started.organizations.create_organization("b", admin="berta", password=PASSWORD)
    with pytest.raises(NotFound, match="User not found"):
        await started.users.set_password(system_caller(other.organization.id), "admin", PASSWORD)
    caller = await started.system()
    weaker = type(caller)(**{**caller.__dict__, "permissions": frozenset({"users.manage"})})
    for refused in (
        started.users.disable(weaker, "admin"),
        started.users.set_password(weaker, "admin", "another long password"),
    ):
        with pytest.raises(Forbidden, match="that you do not hold"):
            await refused


async def test_a_right_password_hashed_with_old_parameters_is_hashed_anew(started: Installation) -> None:
    import argon2

    user = await started.add("carla", "viewer")
    old = argon2.PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1).hash(PASSWORD)
    rows = started.database.collection("users")
    await rows.update({"_id": user.id}, {"$set": {"password_hash": old}})
    assert not await started.users.check_password(user, "wrong")
    assert (await rows.find_one({"_id": user.id}) or {})["password_hash"] == old
    assert await started.users.check_password(user, PASSWORD)
    assert "m=19456,t=2,p=1" in (await rows.find_one({"_id": user.id}) or {})["password_hash"]
    assert await started.users.check_password(user, PASSWORD)


async def test_a_role_id_of_another_organization_grants_nothing(started: Installation) -> None:
    user = await started.add("carla")
    other = await started.organizations.create_organization("b", admin="berta", password=PASSWORD)
    foreign = await started.database.collection("roles").find_one(
        {"org_id": other.organization.id, "name": "admin"}
    )
    assert foreign is not None
    await started.database.collection("users").update(
        {"_id": user.id}, {"$set": {"role_ids": [foreign["_id"]]}}
    )
    found = await started.users.find(user.id)
    assert found is not None
    assert found.permissions == []


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        pytest.param("A", "a", id="one letter"),
        pytest.param("0x@b-c_d.e", "0x@b-c_d.e", id="all signs"),
        pytest.param("a" * 64, "a" * 64, id="64 characters"),
        pytest.param(".a", None, id="begins with a dot"),
        pytest.param("a\n", "a", id="a line break at the end is trimmed"),
        pytest.param("m\u00fcller", None, id="not ASCII"),
        pytest.param("", None, id="empty"),
    ],
)
def test_the_form_of_usernames(text: str, canonical: str | None) -> None:
    assert canonical_username(text) == canonical
