"""What insiders try with certificates and API tokens; each attack tells whether it has succeeded."""

from collections.abc import Awaitable, Callable
from typing import Any

from tests.attacks.attackers.insider import NEW_WORD, WORD, Office
from tests.support.client import ApiClient
from tests.support.execution import eventually

Attack = Callable[[Office], Awaitable[bool]]


async def made_user(office: Office) -> bool:
    _, name = await office.user(office.heidi)
    return (await office.certificate(name))[1] is not None


async def reset_user(office: Office) -> bool:
    user_id, name = await office.user(office.admin)
    (await office.heidi.put(f"/api/users/{user_id}", {"password": NEW_WORD})).expect()
    return (await office.certificate(name, NEW_WORD))[1] is not None


async def user_made_by_token(office: Office) -> bool:
    token = await office.token(office.admin, "users.manage")
    assert token is not None
    _, name = await office.user(office.admin.with_token(token["token"]))
    return (await office.certificate(name))[1] is not None


def stolen(end: Callable[[Office, ApiClient, str, dict[str, Any]], Awaitable[object]]) -> Attack:
    """A copy of a certificate, used after `end`."""

    async def attack(office: Office) -> bool:
        user_id, name = await office.user(office.admin)
        session, certificate = await office.certificate(name)
        assert certificate is not None
        await end(office, session, user_id, certificate)

        async def refused() -> bool:
            return not await office.opens(certificate, name)

        try:  # the list may be a second old
            return not await eventually(refused, seconds=4)
        except TimeoutError:
            return True

    return attack


async def log_out(office: Office, session: ApiClient, user_id: str, certificate: dict[str, Any]) -> object:
    return (await session.post("/api/auth/logout")).expect()


async def disable(office: Office, session: ApiClient, user_id: str, certificate: dict[str, Any]) -> object:
    return (await office.admin.put(f"/api/users/{user_id}", {"is_active": False})).expect()


async def delete(office: Office, session: ApiClient, user_id: str, certificate: dict[str, Any]) -> object:
    return await office.admin.delete(f"/api/users/{user_id}")


async def revoke(office: Office, session: ApiClient, user_id: str, certificate: dict[str, Any]) -> object:
    return await office.admin.post("/api/ssh-ca/revoke", {"serial": certificate["serial"]})


async def operator(office: Office) -> tuple[str, ApiClient]:
    user_id, name = await office.user(office.admin, "operator")
    return user_id, await office.service.client(name, WORD)


async def endless(office: Office) -> bool:
    _, own = await operator(office)
    token = await office.token(own, "devices.access")
    return token is not None and token["expires_at"] is None


async def as_good_as_endless(office: Office) -> bool:
    _, own = await operator(office)
    return await office.token(own, "devices.access", expires_at="2999-01-01T00:00:00Z") is not None


async def after_a_reset(office: Office) -> bool:
    user_id, own = await operator(office)
    token = await office.token(own, "devices.access")
    assert token is not None
    (await office.admin.put(f"/api/users/{user_id}", {"password": NEW_WORD})).expect()
    return await office.lives(token)


async def after_a_new_password(office: Office) -> bool:
    _, own = await operator(office)
    token = await office.token(own, "devices.access")
    assert token is not None
    change = {"current_password": WORD, "new_password": NEW_WORD}
    (await own.put("/api/auth/password", change)).expect()
    return await office.lives(token)


async def by_a_task(office: Office) -> bool:
    token = await office.token(office.admin, "tasks.operate")
    assert token is not None
    machine = office.admin.with_token(token["token"])
    body = {"name": office.name("task"), "task_type": "backup", "cron_expression": "0 0 1 1 *"}
    made = (await machine.post("/api/tasks/schedules", body)).expect(201)
    run = (await machine.post(f"/api/tasks/schedules/{made['id']}/run")).expect(202)
    return await office.ran(run["id"]) == "completed"


async def by_a_task_of_the_owner(office: Office) -> bool:
    """The task was made at the desk; the token says what it does from now on."""
    token = await office.token(office.admin, "tasks.operate")
    assert token is not None
    machine = office.admin.with_token(token["token"])
    body = {"name": office.name("task"), "task_type": "backup", "cron_expression": "0 0 1 1 *"}
    path = f"/api/tasks/schedules/{(await office.admin.post('/api/tasks/schedules', body)).expect(201)['id']}"
    (await machine.put(path, {"parameters": {"device_filter": {"site": "vault"}}})).expect()
    return await office.ran((await machine.post(f"{path}/run")).expect(202)["id"]) == "completed"


async def unseen(office: Office) -> bool:
    """Nobody but its owner finds it or ends it."""
    user_id, own = await operator(office)
    token = await office.token(own, "devices.access")
    assert token is not None
    await office.admin.delete(f"/api/users/{user_id}/tokens/{token['id']}")
    return await office.lives(token)


async def boasts(office: Office) -> bool:
    token = await office.token(office.admin, "devices.access")
    assert token is not None
    shown = (await office.admin.with_token(token["token"]).get("/api/auth/me")).expect()
    return "*" in shown["permissions"]


async def leaves_a_role_by_its_name(office: Office) -> bool:
    roles = (await office.heidi.get("/api/roles")).expect()["roles"]
    (own,) = [role["id"] for role in roles if role["name"].startswith("helpdesk")]
    return (await office.heidi.put(f"/api/roles/{own}", {"name": office.name("helpdesk")})).status == 200
