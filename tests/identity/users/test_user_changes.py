"""GET, PUT and DELETE /api/users/:id: who may change what of whom."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from netautod.core.errors import Conflict, InvalidInput
from netautod.core.identity.caller import Caller
from netautod.identity.users.models import NewUser, User
from netautod.identity.users.roles.store import RoleStore
from netautod.identity.users.store import UserStore
from tests.support.client import ApiClient, ServedRoutes, assert_error
from tests.support.installation import PASSWORD, Installation
from tests.support.serving import Serve

NEW_PASSWORD = "another long password"
VIEWING = ["devices.access", "docs.read"]  # what the role viewer holds


@pytest.fixture
async def served(started: Installation, serve: Serve) -> ServedRoutes:
    return await serve(started.users)


Clients = Callable[..., ApiClient]


@pytest.fixture
async def client(started: Installation, served: ServedRoutes) -> Clients:
    """Return a function: `client("users.manage", user_id=...)` in the organization default."""
    org_id = await started.organizations.default_id()

    def made(*permissions: str, user_id: str | None = None) -> ApiClient:
        return served.client(*permissions, org_id=org_id, user_id=user_id)[0]

    return made


async def test_a_user_is_read_changed_and_deleted(started: Installation, client: Clients) -> None:
    carla = await started.add("carla", "viewer")
    path, admin = f"/api/users/{carla.id}", client("*")
    read = await admin.get(path.upper().replace("/API/USERS", "/api/users"))
    assert read.json["username"] == "carla"
    same = await admin.put(path, read.json)
    assert same.json == read.json
    change = {"email": "c@example.org", "display_name": "Carla", "roles": ["operator", "viewer"]}
    changed = await admin.put(path, change)
    assert changed.status == 200
    assert {name: changed.json[name] for name in change} == change
    assert changed.json == (await admin.get(path)).json
    cleared = await admin.put(path, {"email": None, "display_name": ""})
    assert (cleared.json["email"], cleared.json["display_name"]) == (None, None)
    assert (await admin.delete(path)).status == 204
    for gone in (await admin.get(path), await admin.put(path, {}), await admin.delete(path)):
        assert_error(gone, 404, "User not found")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        pytest.param({"username": "carlotta"}, "username: cannot be changed", id="another name"),
        pytest.param({"auth_provider": "ldap"}, "auth_provider: cannot be changed", id="another provider"),
        pytest.param({"external_id": "1"}, "external_id: only for", id="an external id of a local user"),
        pytest.param({"password": "short"}, "password: at least 12", id="a short password"),
        pytest.param({"password": None}, "password", id="no password"),
        pytest.param({"password": {"$ne": 1}}, "password: Not a valid", id="an operator as a password"),
        pytest.param({"roles": None}, "roles", id="null for roles"),
        pytest.param({"roles": ["king"]}, "no role 'king'", id="an unknown role"),
        pytest.param({"roles": [{"$gt": ""}]}, "roles", id="an operator as a role"),
        pytest.param({"is_active": "yes"}, "is_active", id="a text for a boolean"),
        pytest.param({"email": "nobody"}, "email: Not a valid", id="no address"),
        pytest.param({"password_hash": "x"}, "password_hash: Unknown field", id="a field of ours"),
        pytest.param({"kept_session_id": "x"}, "kept_session_id: Unknown", id="another field of ours"),
    ],
)
async def test_a_bad_change_is_refused(
    started: Installation, client: Clients, change: dict[str, Any], text: str
) -> None:
    carla = await started.add("carla", "viewer")
    assert_error(await client("*").put(f"/api/users/{carla.id}", change), 400, text)
    assert await started.users.find(carla.id) == carla


async def test_read_only_fields_are_ignored(started: Installation, client: Clients) -> None:
    carla = await started.add("carla", "viewer")
    sent = {"id": str(uuid4()), "org_id": str(uuid4()), "permissions": ["*"], "last_login_at": None}
    assert (await client("*").put(f"/api/users/{carla.id}", sent)).status == 200
    assert await started.users.find(carla.id) == carla


@pytest.mark.parametrize(
    ("held", "change", "status"),
    [
        pytest.param(["users.manage"], {"email": "x@example.org"}, 403, id="any change of a stronger one"),
        pytest.param(["users.manage"], {"password": NEW_PASSWORD}, 403, id="reset of a stronger one"),
        pytest.param(["users.manage"], {"is_active": False}, 403, id="disabling a stronger one"),
        pytest.param(["users.manage"], {}, 403, id="no change of a stronger one"),
        pytest.param(
            ["users.manage", "devices.manage", "docs.manage"], {"is_active": False}, 200, id="what is implied"
        ),
        pytest.param([*VIEWING, "users.manage"], {"roles": []}, 200, id="taking a role away"),
        pytest.param([*VIEWING, "users.manage"], {"roles": ["operator"]}, 403, id="granting what one lacks"),
        pytest.param([*VIEWING, "users.manage"], {"roles": ["admin"]}, 403, id="granting everything"),
        pytest.param([*VIEWING, "users.*"], {"password": NEW_PASSWORD}, 200, id="reset of an equal"),
        pytest.param(VIEWING, {"email": None}, 403, id="without users.manage"),
    ],
)
async def test_no_user_changes_a_stronger_one(
    started: Installation, client: Clients, held: list[str], change: dict[str, Any], status: int
) -> None:
    carla = await started.add("carla", "viewer")
    assert (await client(*held).put(f"/api/users/{carla.id}", change)).status == status
    if status == 403:
        assert await started.users.find(carla.id) == carla


async def test_a_stronger_user_cannot_be_deleted(started: Installation, client: Clients) -> None:
    carla = await started.add("carla", "viewer")
    assert_error(await client("users.manage").delete(f"/api/users/{carla.id}"), 403, "you do not hold")


async def test_no_user_changes_own_roles_or_resets_the_own_password(
    started: Installation, client: Clients
) -> None:
    carla = await started.add("carla", "viewer")
    for held in (["*"], ["users.manage", "devices.access", "docs.read"]):
        own = client(*held, user_id=carla.id)
        path = f"/api/users/{carla.id}"
        for roles in (["admin"], ["viewer", "operator"], []):
            assert_error(await own.put(path, {"roles": roles}), 403, "own roles")
        assert_error(await own.put(path, {"password": NEW_PASSWORD}), 403, "/api/auth/password")
        assert (await own.put(path, {"roles": ["viewer"], "email": "c@example.org"})).status == 200


async def test_other_organizations_users_are_not_there(started: Installation, served: ServedRoutes) -> None:
    carla = await started.add("carla", "viewer")
    other = await started.organizations.create_organization("b", admin="berta", password=PASSWORD)
    berta, _ = served.client("*", org_id=other.organization.id)
    path = f"/api/users/{carla.id}"
    for answer in (
        await berta.get(path),
        await berta.put(path, {"password": NEW_PASSWORD}),
        await berta.put(path, {"org_id": other.organization.id}),
        await berta.delete(path),
        await berta.get("/api/users/nonsense"),
    ):
        assert_error(answer, 404, "User not found")
    assert await started.users.find(carla.id) == carla


@pytest.mark.parametrize(
    ("change", "ends"),
    [
        pytest.param({"password": NEW_PASSWORD}, True, id="a password reset"),
        pytest.param({"is_active": False}, True, id="disabling"),
        pytest.param({"roles": ["operator"]}, False, id="other roles"),
        pytest.param({"email": "c@example.org"}, False, id="another address"),
    ],
)
async def test_what_ends_all_sessions(
    started: Installation, client: Clients, change: dict[str, Any], ends: bool
) -> None:
    carla = await started.add("carla", "viewer")
    assert (await client("*").put(f"/api/users/{carla.id}", change)).status == 200
    after = await started.users.find(carla.id)
    assert after is not None
    epochs = (after.session_epoch - carla.session_epoch, after.refresh_epoch - carla.refresh_epoch)
    assert epochs == ((1, 1) if ends else (0, 0))


async def test_another_entry_behind_an_account_ends_its_sessions(
    started: Installation, client: Clients
) -> None:
    new = NewUser(username="lara", roles=(), auth_provider="ldap", external_id="uuid-1")
    lara = await started.users.create(await started.system(), new)
    other = replace(new, username="lars", external_id="uuid-2")
    await started.users.create(await started.system(), other)
    path = f"/api/users/{lara.id}"
    own = client("*", user_id=lara.id)
    assert_error(await own.put(path, {"external_id": "uuid-3"}), 403, "your own account")
    assert_error(await client("*").put(path, {"external_id": "uuid-2"}), 409, "external_id already exists")
    assert_error(await client("*").put(path, {"password": NEW_PASSWORD}), 400, "only for local users")
    assert (await client("*").put(path, {"external_id": "uuid-3"})).status == 200
    after = await started.users.find(lara.id)
    assert after is not None
    assert (after.external_id, after.session_epoch) == ("uuid-3", 1)


async def test_every_change_is_one_event_without_the_password(started: Installation, client: Clients) -> None:
    carla = await started.add("carla", "viewer")
    change = {"password": NEW_PASSWORD, "roles": ["operator"], "is_active": False}
    await client("*").put(f"/api/users/{carla.id}", change)
    await client("*").put(f"/api/users/{carla.id}", {"is_active": False})
    await client("*").delete(f"/api/users/{carla.id}")
    events = await started.database.collection("audit_events").find({"resource_id": carla.id})
    assert [event["action"] for event in events] == ["user.create", "user.update", "user.delete"]
    assert events[1]["details"] == {
        "username": "carla",
        "fields": ["is_active", "password", "roles"],
        "roles": ["operator"],
        "old_roles": ["viewer"],
        "is_active": False,
    }


async def before_the_write(monkeypatch: pytest.MonkeyPatch, name: str, meanwhile: Callable[[], Any]) -> None:
    """Run `meanwhile` between the checks of the next change and its write."""
    real = getattr(UserStore, name)

    async def patched(self: UserStore, *args: Any, **kwargs: Any) -> Any:
        monkeypatch.setattr(UserStore, name, real)
        await meanwhile()
        return await real(self, *args, **kwargs)

    monkeypatch.setattr(UserStore, name, patched)


@pytest.mark.parametrize("deleting", [False, True], ids=["reset", "deletion"])
async def test_a_user_promoted_between_check_and_write_is_out_of_reach(
    started: Installation, client: Clients, monkeypatch: pytest.MonkeyPatch, deleting: bool
) -> None:
    carla = await started.add("carla", "viewer")
    system = await started.system()

    async def promote() -> None:
        await started.users.update(system, carla.id, {"roles": ["admin"]})

    weaker, path = client("users.manage", "devices.access"), f"/api/users/{carla.id}"
    await before_the_write(monkeypatch, "remove" if deleting else "change", promote)
    refused = await (weaker.delete(path) if deleting else weaker.put(path, {"password": NEW_PASSWORD}))
    assert_error(refused, 403, "you do not hold")
    assert await started.users.check_password(carla, PASSWORD)


async def test_two_changes_at_once_do_not_undo_each_other(started: Installation, client: Clients) -> None:
    carla = await started.add("carla", "viewer")
    path = f"/api/users/{carla.id}"
    changes = [{"email": "c@example.org"}, {"display_name": "Carla"}, {"roles": []}]
    answers = await asyncio.gather(*(client("*").put(path, change) for change in changes))
    assert [answer.status for answer in answers] == [200] * 3
    after = (await client("*").get(path)).json
    assert (after["email"], after["display_name"], after["roles"]) == ("c@example.org", "Carla", [])


async def test_a_role_that_vanishes_between_check_and_write_is_not_given(
    started: Installation, client: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    carla = await started.add("carla", "viewer")

    async def hidden(self: RoleStore, *args: Any) -> set[str]:
        return set()  # its removal has begun

    monkeypatch.setattr(RoleStore, "visible", hidden)
    path = f"/api/users/{carla.id}"
    assert_error(await client("*").put(path, {"roles": ["operator"]}), 400, "no role 'operator'")
    after = await started.users.find(carla.id)
    assert after is not None
    assert after.role_names == ["viewer"]
    with pytest.raises(InvalidInput, match="no role"):
        await started.add("dora", "operator")
    assert await started.users.by_username("dora") is None


async def active_admins(started: Installation) -> list[str]:
    users: list[User] = await started.users.all_users()
    return [user.username for user in users if user.is_active and user.admin_role is not None]


async def admin_path(started: Installation, username: str = "admin") -> str:
    user = await started.users.by_username(username)
    assert user is not None
    return f"/api/users/{user.id}"


async def test_the_last_active_admin_stays_one(started: Installation, client: Clients) -> None:
    path = await admin_path(started)
    changes: list[dict[str, Any]] = [{"is_active": False}, {"roles": []}, {"roles": ["operator"]}]
    for change in changes:
        assert_error(await client("*").put(path, change), 409, "last active admin")
    assert_error(await client("*").delete(path), 409, "last active admin")
    await started.add("second", "admin")
    assert (await client("*").put(path, {"is_active": False})).status == 200
    assert_error(await client("*").delete(await admin_path(started, "second")), 409, "last active admin")
    assert (await client("*").delete(path)).status == 204  # the user is not active
    assert await active_admins(started) == ["second"]


async def test_admins_who_go_in_every_way_at_once_leave_one_behind(
    started: Installation, client: Clients
) -> None:
    for name in ("second", "third", "fourth"):
        await started.add(name, "admin")
    api = client("*")
    ways = [
        api.put(await admin_path(started), {"is_active": False}),
        api.put(await admin_path(started, "second"), {"roles": []}),
        api.delete(await admin_path(started, "third")),
        api.delete(await admin_path(started, "fourth")),
    ]
    statuses = [answer.status for answer in await asyncio.gather(*ways)]
    assert 409 in statuses
    assert len(await active_admins(started)) >= 1
    assert (await api.put(await admin_path(started), {"is_active": True})).status == 200


async def test_a_mark_that_a_crash_left_behind_runs_out(started: Installation, client: Clients) -> None:
    second = await started.add("second", "admin")
    store = UserStore(started.database)
    assert await store.mark_leaving(second)
    path = await admin_path(started)
    assert_error(await client("*").put(path, {"is_active": False}), 409, "last active admin")
    await started.database.collection("users").update(
        {"_id": second.id}, [{"$set": {"leaving.until": "$$NOW"}}]
    )
    assert (await client("*").put(path, {"is_active": False})).status == 200


async def test_a_node_that_slept_cannot_use_its_mark(started: Installation) -> None:
    second = await started.add("second", "admin")
    store = UserStore(started.database)
    token = await store.mark_leaving(second)
    assert token is not None
    now = started.clock.now()
    await started.database.collection("users").update(
        {"_id": second.id}, [{"$set": {"leaving.until": "$$NOW"}}]
    )
    assert not await store.change(second, {"is_active": False}, now, leaving=token)
    assert not await store.remove(second, leaving=token)
    newer = await store.mark_leaving(second)
    assert not await store.remove(second, leaving=token)
    assert await store.remove(second, leaving=newer)


async def test_the_command_line_enables_again(started: Installation) -> None:
    carla, system = await started.add("carla", "viewer"), await started.system()
    await started.users.disable(system, "carla")
    await started.users.enable(system, "Carla")
    after = await started.users.find(carla.id)
    assert after is not None
    assert after.is_active


async def test_a_user_that_is_always_being_changed_is_a_conflict(
    started: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    carla = await started.add("carla", "viewer")
    system: Caller = await started.system()

    async def missed(self: UserStore, *args: Any, **kwargs: Any) -> bool:
        return False

    monkeypatch.setattr(UserStore, "change", missed)
    monkeypatch.setattr(UserStore, "remove", missed)
    with pytest.raises(Conflict, match="try again"):
        await started.users.update(system, carla.id, {"email": None, "display_name": "C"})
    with pytest.raises(Conflict, match="try again"):
        await started.users.delete(system, carla.id)
