"""The first start: twice, on two nodes at once, dying in the middle."""

import asyncio
from pathlib import Path

import pytest

from netautod.core.errors import Conflict, InvalidInput
from netautod.core.identity.caller import system_caller
from netautod.identity.users.models import BUILTIN_ROLES, NewUser
from netautod.identity.users.organizations.initial_password import NAME
from netautod.identity.users.organizations.service import OrganizationService
from netautod.identity.users.store import UserStore
from netautod.store.client import Database
from tests.support.installation import PASSWORD, Installation


async def opens(installation: Installation, password: str) -> bool:
    admin = await installation.users.by_username("admin")
    return await installation.users.check_password(admin, password)


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def written(folder: Path) -> list[str]:
    """Return the passwords in the files of all data folders below this one."""
    return [file.read_text().strip() for file in folder.glob(f"*/{NAME}")]


async def test_the_first_start_makes_organization_roles_and_admin(
    installation: Installation, tmp_path: Path
) -> None:
    password = await installation.bootstrap(tmp_path).run()
    assert password is not None
    assert len(password) == 20
    file = tmp_path / NAME
    assert file.read_text().strip() == password
    assert file.stat().st_mode & 0o777 == 0o600
    assert names(tmp_path) == [NAME]
    admin = await installation.users.by_username("Admin")
    assert admin is not None
    assert (admin.permissions, admin.role_names, admin.is_active) == (["*"], ["admin"], True)
    assert await opens(installation, password)
    roles = await installation.database.collection("roles").find({}, sort=[("name", 1)])
    assert {role["name"]: tuple(role["permissions"]) for role in roles} == {
        role.name: role.permissions for role in BUILTIN_ROLES
    }


async def test_later_starts_change_nothing_and_print_nothing(
    installation: Installation, tmp_path: Path
) -> None:
    assert await installation.bootstrap(tmp_path).run()
    await installation.database.collection("users").delete_many({})  # an operator may rename or delete admin
    assert await installation.bootstrap(tmp_path).run() is None
    assert await installation.bootstrap(tmp_path, PASSWORD).run() is None
    assert await installation.users.by_username("admin") is None


async def test_a_given_password_is_used_and_written_nowhere(
    installation: Installation, tmp_path: Path
) -> None:
    assert await installation.bootstrap(tmp_path, PASSWORD).run() is None
    assert names(tmp_path) == []
    assert await opens(installation, PASSWORD)


async def test_a_given_password_that_breaks_the_policy_stops_the_start_and_can_be_corrected(
    installation: Installation, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match="NETAUTOD_ADMIN_PASSWORD: at least 12"):
        await installation.bootstrap(tmp_path, "short").run()
    assert await installation.bootstrap(tmp_path, PASSWORD).run() is None
    assert await opens(installation, PASSWORD)


@pytest.mark.parametrize(
    "shared", [pytest.param(True, id="on one data folder"), pytest.param(False, id="on two data folders")]
)
async def test_five_nodes_that_start_at_once_agree(
    installation: Installation, tmp_path: Path, shared: bool
) -> None:
    folders = [tmp_path / ("one" if shared else str(number)) for number in range(5)]
    nodes = [installation.on_another_node() for _ in folders]
    starts = [node.bootstrap(folder).run() for node, folder in zip(nodes, folders, strict=True)]
    password = [password for password in await asyncio.gather(*starts) if password is not None]
    assert len(password) == 1
    assert await opens(installation, password[0])
    assert written(tmp_path) == password
    for name in ("users", "organizations"):
        assert await installation.database.collection(name).count({}) == 1
    assert await installation.database.collection("roles").count({}) == 3


class Died(Exception):
    """Raised to end the process here."""


@pytest.mark.parametrize(
    ("owner", "method", "after", "read_again"),
    [
        pytest.param(OrganizationService, "begin", True, True, id="after organization and roles"),
        pytest.param(UserStore, "insert", False, True, id="after the file, before the user"),
        pytest.param(UserStore, "insert", True, False, id="after the user"),
        pytest.param(OrganizationService, "finish", False, False, id="before the last line"),
    ],
)
async def test_a_start_that_dies_never_leaves_an_admin_with_an_unknown_password(
    installation: Installation,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    owner: type,
    method: str,
    after: bool,
    read_again: bool,
) -> None:
    real = getattr(owner, method)

    async def die(self: object, *args: object, **kwargs: object) -> None:
        if after:
            await real(self, *args, **kwargs)
        raise Died

    with monkeypatch.context() as patch:
        patch.setattr(owner, method, die)
        with pytest.raises(Died):
            await installation.bootstrap(tmp_path).run()
    password = await installation.bootstrap(tmp_path).run()
    in_file = (tmp_path / NAME).read_text().strip()
    assert password == (in_file if read_again else None)
    assert await opens(installation, in_file)


async def test_an_admin_of_another_organization_is_not_taken_over(
    installation: Installation, tmp_path: Path
) -> None:
    elsewhere = await installation.organizations.begin("elsewhere")
    assert await installation.organizations.add_admin(elsewhere, "admin", "x")
    with pytest.raises(Conflict, match="taken by another organization"):
        await installation.bootstrap(tmp_path).run()
    assert names(tmp_path) == []


async def test_a_start_gives_built_in_roles_what_this_release_says(
    installation: Installation, tmp_path: Path, database: Database
) -> None:
    await installation.bootstrap(tmp_path, PASSWORD).run()
    await database.collection("roles").update({"name": "viewer"}, {"$set": {"permissions": ["old.key"]}})
    await installation.bootstrap(tmp_path, PASSWORD).run()
    caller = system_caller(await installation.organizations.default_id())
    new = NewUser(username="v", password=PASSWORD, roles=("viewer",))
    assert (await installation.users.create(caller, new)).permissions == ["devices.access", "docs.read"]
