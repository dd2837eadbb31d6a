"""The administrator's commands beside the running service, whose database they find through --data-dir."""

import pytest

from netautod.testing import SimulatedDevice
from tests.e2e.console import Console
from tests.support.client import assert_error
from tests.support.programs.service import Finished, Service, run

pytestmark = pytest.mark.slow

PASSWORD = "a quite long password 17"
ANOTHER = "another quite long one 18"


async def beside(service: Service, *arguments: str, given: str = "", code: int = 0) -> Finished:
    done = await run(*arguments, "--data-dir", str(service.data_dir), given=given)
    assert done.code == code, (done.out, done.err)
    assert "Traceback" not in done.err
    return done


async def test_a_user_is_added_listed_and_given_a_password(service: Service) -> None:
    added = await beside(service, "user", "add", "ann", "--role", "operator", given=f"{PASSWORD}\n")
    assert added.out == "user ann added\n"
    assert [line.split() for line in (await users(service))["ann"]] == [["local"], ["active"], ["operator"]]
    client = await service.client("ann", PASSWORD)
    assert (await client.get("/api/auth/me")).json["roles"] == ["operator"]

    changed = await beside(service, "user", "passwd", "ann", given=f"{ANOTHER}\n")
    assert changed.out == "password of ann set; all sessions ended\n"
    await refused(service, "ann", PASSWORD)
    client = await service.client("ann", ANOTHER)

    await beside(service, "user", "disable", "ann")
    await refused(service, "ann", ANOTHER)
    assert (await users(service))["ann"][1].strip() == "disabled"
    await beside(service, "user", "unlock", "ann")


async def users(service: Service) -> dict[str, list[str]]:
    listed = await beside(service, "user", "list")
    rows = [line.split(maxsplit=3) for line in listed.out.splitlines()]
    return {row[0]: row[1:] for row in rows}


async def refused(service: Service, username: str, password: str) -> None:
    login = {"username": username, "password": password}
    assert_error(await (await service.anonymous()).post("/api/auth/login", login), 401, "Invalid username")


async def test_an_organization_sees_only_its_own(service: Service, every_minute: object) -> None:
    made = await beside(service, "org", "create", "branch", "--admin", "bob")
    first, second = made.out.splitlines()
    assert first == "organization branch created, administrator bob"
    console = Console(client=await service.client("bob", second.removeprefix("password: ")))
    assert (await console.read("/api/devices"))["total"] == 0
    assert [user["username"] for user in (await console.read("/api/users"))["users"]] == ["bob"]
    assert sorted((await beside(service, "org", "list")).out.split()) == ["branch", "default"]


@pytest.mark.parametrize(
    ("arguments", "given", "code", "text"),
    [
        pytest.param(["user", "add", "eve"], "short\n", 2, "password", id="a short password"),
        pytest.param(["user", "add", "admin"], f"{PASSWORD}\n", 1, "exists", id="a name that is taken"),
        pytest.param(["user", "add", "eve", "--role", "king"], f"{PASSWORD}\n", 2, "king", id="no role"),
        pytest.param(["user", "passwd", "nobody"], f"{PASSWORD}\n", 1, "User not found", id="nobody"),
        pytest.param(["user", "disable", "admin"], "", 1, "last active admin", id="the last admin"),
    ],
)
async def test_a_refusal_is_one_line(
    service: Service, arguments: list[str], given: str, code: int, text: str
) -> None:
    done = await beside(service, *arguments, given=given, code=code)
    last = done.err.splitlines()[-1]
    assert last.startswith("netautod: ")
    assert text in last


async def test_a_refused_user_was_not_added(service: Service) -> None:
    assert "eve" not in await users(service)


@pytest.mark.parametrize(
    ("name", "allowed", "code", "said"),
    [
        pytest.param("trial", [], 0, "complete", id="for every host"),
        pytest.param("trial elsewhere", ["198.51.100.0/24"], 1, "not allowed for this host", id="for others"),
        pytest.param("of nobody", None, 1, "there is no credential 'of nobody'", id="unknown"),
    ],
)
async def test_a_trial_with_a_stored_credential(
    service: Service, console: Console, name: str, allowed: list[str] | None, code: int, said: str
) -> None:
    if allowed is not None:
        await console.credential(name, secret=PASSWORD, allowed_hosts=allowed)
    async with SimulatedDevice(password=PASSWORD) as switch:
        of = ("--platform", "cisco_ios", "--credential", name, "--organization", "default")
        where = ("127.0.0.1", "--port", str(switch.port))
        done = await beside(service, "platform", "try", *where, *of, code=code)
    assert said in done.out + done.err
    assert PASSWORD not in done.out + done.err
