"""`netautod org create`: names, first passwords, and a call that died half-way."""

import pytest

from netautod.core.errors import Conflict, InvalidInput, NotFound
from netautod.identity.users.organizations.service import OrganizationService
from tests.support.installation import PASSWORD, Installation


async def test_an_organization_has_its_own_roles_and_admin(started: Installation) -> None:
    made = await started.organizations.create_organization(" Branch ", admin="Berta")
    assert made.organization.name == "Branch"
    assert made.generated_password is not None
    assert made.generated_password not in repr(made)
    berta = await started.users.by_username("berta")
    assert berta is not None
    assert (berta.org_id, berta.role_names) == (made.organization.id, ["admin"])
    assert await started.users.check_password(berta, made.generated_password)
    assert [found.name for found in await started.organizations.all()] == ["Branch", "default"]
    assert (await started.organizations.by_name("Branch")).ready
    assert await started.database.collection("roles").count({"org_id": made.organization.id}) == 3


async def test_a_given_password_is_not_printed(started: Installation) -> None:
    made = await started.organizations.create_organization("b", admin="berta", password=PASSWORD)
    assert made.generated_password is None


@pytest.mark.parametrize(
    ("name", "admin", "password", "error", "text"),
    [
        pytest.param("default", "berta", None, Conflict, "Organization with this name", id="name taken"),
        pytest.param("b", "Admin", None, Conflict, "User with this username", id="username taken"),
        pytest.param("", "berta", None, InvalidInput, "name: 1 to 255", id="no name"),
        pytest.param("a\nb", "berta", None, InvalidInput, "name: 1 to 255", id="line break in the name"),
        pytest.param("a\udc80", "berta", None, InvalidInput, "name: 1 to 255", id="not Unicode"),
        pytest.param("b", "bert a", None, InvalidInput, "username: ", id="bad username"),
        pytest.param("b", "berta", "short", InvalidInput, "at least 12 characters", id="short password"),
    ],
)
async def test_a_refused_call_writes_nothing(
    started: Installation, name: str, admin: str, password: str | None, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        await started.organizations.create_organization(name, admin=admin, password=password)
    assert await started.database.collection("organizations").count({}) == 1
    assert await started.database.collection("roles").count({}) == 3


async def test_a_call_that_died_before_its_last_line_can_be_repeated(
    started: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def die(self: object, *args: object) -> None:
        raise KeyError

    with monkeypatch.context() as patch:
        patch.setattr(OrganizationService, "finish", die)
        with pytest.raises(KeyError):
            await started.organizations.create_organization("b", admin="berta")
    made = await started.organizations.create_organization("b", admin="berta")
    assert made.generated_password is not None
    berta = await started.users.by_username("berta")
    assert await started.users.check_password(berta, made.generated_password)
    assert await started.database.collection("users").count({"username": "berta"}) == 1
    with pytest.raises(Conflict):
        await started.organizations.create_organization("b", admin="berta")


async def test_before_the_first_start_its_names_are_reserved(installation: Installation) -> None:
    for name, admin in (("default", "berta"), ("b", "admin")):
        with pytest.raises(Conflict, match="made by the first start"):
            await installation.organizations.create_organization(name, admin=admin)
    with pytest.raises(NotFound, match="Organization not found"):
        await installation.organizations.by_name("b")
