"""/api/roles: what may be in a role, who may edit it, and when it can go."""

import asyncio
from typing import Any

import pytest

from netautod.core.errors import Conflict, InvalidInput, NotFound
from netautod.core.registries import References
from netautod.identity.users.roles.service import RoleService
from netautod.identity.users.roles.store import RoleStore
from tests.support.client import ApiClient, ServedRoutes, assert_error
from tests.support.installation import PASSWORD, Installation
from tests.support.serving import Serve

AUDITOR = {"name": "auditor", "description": "Reads all", "permissions": ["devices.access", "system.manage"]}


@pytest.fixture
def roles(started: Installation) -> RoleService:
    return started.people.roles


@pytest.fixture
async def served(roles: RoleService, serve: Serve) -> ServedRoutes:
    return await serve(roles)


@pytest.fixture
async def admin(started: Installation, served: ServedRoutes) -> ApiClient:
    return served.client("*", org_id=await started.organizations.default_id())[0]


async def test_the_way_of_a_role(admin: ApiClient, started: Installation) -> None:
    made = await admin.post("/api/roles", {**AUDITOR, "name": " auditor "})
    assert made.status == 201
    assert set(made.json) == {"id", "name", "description", "permissions", "builtin"}
    assert {name: made.json[name] for name in AUDITOR} == AUDITOR
    path = f"/api/roles/{made.json['id']}"
    assert (await admin.get(path)).json == made.json
    listed = (await admin.get("/api/roles")).json
    assert [role["name"] for role in listed["roles"]] == ["admin", "auditor", "operator", "viewer"]
    assert (listed["total"], listed["limit"], listed["offset"]) == (4, 50, 0)
    assert [role["name"] for role in (await admin.get("/api/roles?limit=1&offset=1")).json["roles"]] == [
        "auditor"
    ]
    carla = await started.add("carla", "auditor")
    assert carla.permissions == ["devices.access", "system.manage"]
    assert (await admin.put(path, made.json)).json == made.json
    changed = await admin.put(path, {"permissions": ["docs.manage"] * 2, "description": ""})
    assert (changed.json["permissions"], changed.json["description"]) == (["docs.manage"], None)
    again = await started.users.find(carla.id)
    assert again is not None
    assert again.permissions == ["docs.manage"]
    assert_error(await admin.delete(path), 409, "Role is in use by user carla")
    await started.users.delete(await started.system(), carla.id)
    assert (await admin.delete(path)).status == 204
    assert_error(await admin.get(path), 404, "Role not found")
    assert_error(await admin.delete(path), 404, "Role not found")


@pytest.mark.parametrize(
    ("change", "status", "text"),
    [
        pytest.param({"name": "viewer"}, 409, "Role with this name", id="a name that is taken"),
        pytest.param({"name": ""}, 400, "name", id="no name"),
        pytest.param({"name": {"$ne": ""}}, 400, "name: Not a valid string", id="an operator as a name"),
        pytest.param({"permissions": ["devices.fly"]}, 400, "no permission 'devices.fly'", id="unknown key"),
        pytest.param({"permissions": ["fly.*"]}, 400, "no permission 'fly.*'", id="an unknown wildcard"),
        pytest.param({"permissions": ["dev*"]}, 400, "no permission 'dev*'", id="half a wildcard"),
        pytest.param({"permissions": [".*"]}, 400, "no permission", id="a wildcard of nothing"),
        pytest.param({"permissions": [""]}, 400, "no permission", id="an empty key"),
        pytest.param({"permissions": "*"}, 400, "permissions: Not a valid list", id="no list"),
        pytest.param({"permissions": [{"$gt": ""}]}, 400, "permissions", id="an operator as a key"),
        pytest.param({"permissions": None}, 400, "permissions", id="null"),
        pytest.param({"users": []}, 400, "users: Unknown field", id="an unknown field"),
    ],
)
async def test_a_bad_role_is_refused(
    admin: ApiClient, change: dict[str, Any], status: int, text: str
) -> None:
    assert_error(await admin.post("/api/roles", {**AUDITOR, **change}), status, text)
    made = (await admin.post("/api/roles", AUDITOR)).json
    assert_error(await admin.put(f"/api/roles/{made['id']}", change), status, text)
    assert (await admin.get(f"/api/roles/{made['id']}")).json == made


async def test_builtin_and_id_cannot_be_assigned(admin: ApiClient) -> None:
    sent = {**AUDITOR, "builtin": True, "id": "x", "org_id": "y"}
    made = await admin.post("/api/roles", sent)
    assert (made.json["builtin"], made.json["id"] == "x") == (False, False)
    assert (await admin.put(f"/api/roles/{made.json['id']}", {"builtin": True})).json["builtin"] is False


async def test_built_in_roles_are_read_only(admin: ApiClient) -> None:
    for role in (await admin.get("/api/roles")).json["roles"]:
        path = f"/api/roles/{role['id']}"
        changes: list[dict[str, Any]] = [role, {}, {"permissions": []}, {"name": "other"}]
        for change in changes:
            assert_error(await admin.put(path, change), 409, "Built-in roles cannot be changed")
        assert_error(await admin.delete(path), 409, "Built-in roles cannot be changed")


async def test_no_user_puts_a_missing_permission_into_a_role(
    started: Installation, served: ServedRoutes, admin: ApiClient
) -> None:
    org_id = await started.organizations.default_id()
    weaker, _ = served.client("users.manage", "devices.manage", org_id=org_id)
    for permissions in (["*"], ["users.*"], ["devices.access", "docs.manage"], ["devices.*"]):
        refused = await weaker.post("/api/roles", {"name": "r", "permissions": permissions})
        assert_error(refused, 403, "you do not hold")
    made = await weaker.post("/api/roles", {"name": "r", "permissions": ["devices.access"]})
    path = f"/api/roles/{made.json['id']}"
    assert_error(await weaker.put(path, {"permissions": ["docs.manage"]}), 403, "you do not hold")
    assert (await weaker.put(path, {"permissions": ["devices.manage"]})).status == 200
    await admin.put(path, {"permissions": ["docs.manage", "devices.access"]})
    changes: list[dict[str, Any]] = [{"name": "other"}, {"permissions": []}, {}]
    for change in changes:
        assert_error(await weaker.put(path, change), 403, "This role holds permissions")
    assert_error(await weaker.delete(path), 403, "This role holds permissions")


async def test_no_user_changes_the_permissions_of_an_own_role(
    started: Installation, served: ServedRoutes, admin: ApiClient
) -> None:
    permissions = ["users.manage", "devices.access"]
    made = (await admin.post("/api/roles", {"name": "helper", "permissions": permissions})).json
    carla = await started.add("carla", "helper", "operator")
    own, _ = served.client(*carla.permissions, org_id=carla.org_id, user_id=carla.id)
    path = f"/api/roles/{made['id']}"
    for changed in ([*permissions, "docs.manage"], ["users.manage"], []):
        assert_error(await own.put(path, {"permissions": changed}), 403, "your own roles")
    assert_error(await own.put(path, {"name": "helpers"}), 403, "your own roles")
    assert (await own.put(path, {"permissions": permissions, "description": "Helps"})).status == 200


async def test_organizations_do_not_see_each_others_roles(
    started: Installation, served: ServedRoutes, admin: ApiClient
) -> None:
    made = (await admin.post("/api/roles", AUDITOR)).json
    other = await started.organizations.create_organization("b", admin="berta", password=PASSWORD)
    berta, _ = served.client("*", org_id=other.organization.id)
    path = f"/api/roles/{made['id']}"
    for answer in (
        await berta.get(path),
        await berta.put(path, {"permissions": []}),
        await berta.delete(path),
    ):
        assert_error(answer, 404, "Role not found")
    assert (await berta.post("/api/roles", AUDITOR)).status == 201
    assert (await berta.get("/api/roles")).json["total"] == 4


async def test_a_role_that_grew_between_check_and_write_is_out_of_reach(
    started: Installation, served: ServedRoutes, admin: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = (await admin.post("/api/roles", {"name": "r", "permissions": ["devices.access"]})).json
    path, real = f"/api/roles/{made['id']}", RoleStore.change

    async def grown(self: RoleStore, *args: Any) -> Any:
        monkeypatch.setattr(RoleStore, "change", real)
        await admin.put(path, {"permissions": ["*"]})
        return await real(self, *args)

    org_id = await started.organizations.default_id()
    weaker, _ = served.client("users.manage", "devices.access", org_id=org_id)
    monkeypatch.setattr(RoleStore, "change", grown)
    assert_error(await weaker.put(path, {"permissions": []}), 403, "This role holds")
    assert (await admin.get(path)).json["permissions"] == ["*"]


async def test_a_deletion_and_a_new_user_at_once_never_leave_a_user_with_a_missing_role(
    started: Installation, roles: RoleService, admin: ApiClient
) -> None:
    system = await started.system()
    for number in range(10):
        made = (await admin.post("/api/roles", {**AUDITOR, "name": f"r{number}"})).json
        results = await asyncio.gather(
            roles.delete(system, made["id"]), started.add(f"u{number}", f"r{number}"), return_exceptions=True
        )
        refused = [result for result in results if isinstance(result, Conflict | InvalidInput)]
        assert len(refused) >= 1
        user = await started.users.by_username(f"u{number}")
        assert user is None or user.role_names == [f"r{number}"]


async def test_a_removal_that_died_is_finished_at_the_next_start(
    started: Installation, roles: RoleService, admin: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = await started.system()
    ids = [
        (await admin.post("/api/roles", {**AUDITOR, "name": name})).json["id"] for name in ("used", "free")
    ]
    real = References.refuse_if_used

    async def die(self: References, org_id: Any, role_id: str) -> None:
        if calls:
            raise KeyError
        calls.append(role_id)
        await real(self, org_id, role_id)

    for role_id in ids:
        calls: list[str] = []
        with monkeypatch.context() as patch:
            patch.setattr(References, "refuse_if_used", die)
            with pytest.raises(KeyError):
                await roles.delete(system, role_id)
        with pytest.raises(NotFound):
            await roles.get(system.org_id, role_id)
    rows = started.database.collection("users")
    await rows.update({"username": "admin"}, {"$push": {"role_ids": ids[0]}})
    await roles.resume()
    assert (await roles.get(system.org_id, ids[0])).name == "used"
    assert await started.database.collection("roles").count({"_id": ids[1]}) == 0
