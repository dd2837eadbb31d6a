"""The page of the own account: password, one-time codes, sessions, API tokens, and what has to come first."""

from typing import Any

import pyotp

from netautod.identity.auth.settings import AuthSettings
from tests.console.account.conftest import Open
from tests.identity.auth.support import Node, NodeStarter
from tests.support.installation import PASSWORD
from tests.support.pages import LoadedPage
from tests.support.visitor import Visitor

NEW = "another horse battery staple"
CHANGE = {"current_password": PASSWORD, "new_password": NEW}
FORMS = (
    "/account/password",
    "/account/codes",
    "/account/codes/confirm",
    "/account/codes/end",
    "/account/sessions/0d4d5b7e-6d2f-4a53-9d0c-0a4d5b0a7a11/end",
    "/account/sessions/end-others",
    "/account/tokens",
    "/account/tokens/0d4d5b7e-6d2f-4a53-9d0c-0a4d5b0a7a11/revoke",
    "/logout",
)


def told(page: LoadedPage) -> str:
    (found,) = page.all("p", class_="error")
    return found.text


def code_of(node: Node, secret: str, steps: int = 0) -> str:
    return pyotp.TOTP(secret).generate_otp(int(node.clock.now().timestamp()) // 30 + steps)


async def test_what_the_page_shows(admin: Visitor) -> None:
    page = admin.page
    headings = [one.text for one in page.all("h2")]
    assert headings == [
        "Password",
        "One-time codes",
        "Sessions",
        "API tokens",
        "Roles and permissions",
        "SSH certificates",
    ]
    assert "ssh-ed25519 " in page.text
    ids = [one.attributes["id"] for one in page.elements if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    labelled = {one.attributes["for"] for one in page.all("label") if "for" in one.attributes}
    assert labelled <= set(ids)


async def test_a_new_password_ends_the_other_sessions(admin: Visitor, node: Node) -> None:
    other = Visitor(base_url=admin.base_url)
    await other.log_in()
    page = await admin.post("/account/password", CHANGE)
    assert page.headers["Location"] == "/account"
    page = await admin.get("/account")
    assert "The password was changed; 1 other session ended." in page.text
    assert "password was changed" not in (await admin.get("/account")).text
    await other.get("/account", status=303)
    await other.log_in(password=PASSWORD, status=400)
    await other.log_in(password=NEW)


async def test_passwords_that_are_refused(admin: Visitor) -> None:
    for change, text in (
        ({"current_password": NEW}, "The current password is wrong. 9 attempts remaining."),
        ({"current_password": ""}, "current_password: Missing"),
        ({"new_password": "short"}, "new_password: "),
        ({"new_password": ""}, "new_password: Missing"),
    ):
        page = await admin.post("/account/password", {**CHANGE, **change}, status=400)
        assert text in told(page)
        for secret in (PASSWORD, NEW):
            assert secret not in page.html
        assert "Sessions" in page.text
    await Visitor(base_url=admin.base_url).log_in()


async def test_the_lockout_is_told_in_the_form(admin: Visitor) -> None:
    wrong = {**CHANGE, "current_password": NEW}
    for _ in range(10):
        await admin.post("/account/password", wrong, status=400)
    page = await admin.post("/account/password", CHANGE, status=429)
    assert "Too many failed login attempts" in told(page)
    assert page.headers["Retry-After"] == "900"


async def set_up(admin: Visitor, node: Node) -> tuple[str, list[str]]:
    page = await admin.post("/account/codes", {"password": PASSWORD}, status=200)
    secret, *_ = (one.text for one in page.all("dd"))
    (link,) = (one.attributes["href"] for one in page.all("a") if one.text == "Open in an app")
    assert link.startswith("otpauth://totp/netautod:admin?secret=" + secret)
    (recovery,) = (one.text.split() for one in page.all("pre"))
    assert len(recovery) == 10
    return secret, recovery


async def test_one_time_codes_from_their_making_to_their_end(admin: Visitor, node: Node) -> None:
    secret, recovery = await set_up(admin, node)
    page = await admin.post("/account/codes/confirm", {"code": "000 000x"}, status=400)
    assert "The password or the code is wrong. 9 attempts remaining." in told(page)
    assert secret not in page.html
    page = await admin.post("/account/codes/confirm", {"code": code_of(node, secret)})
    page = await admin.get(page.headers["Location"])
    assert "One-time codes are on: every login asks for a code." in page.text
    assert "A login asks for a one-time code." in page.text
    assert secret not in page.html
    other = Visitor(base_url=admin.base_url)
    await other.log_in(status=200)
    assert other.page.all("input", name="code")
    page = await admin.post("/account/codes", {"password": PASSWORD, "code": ""}, status=400)
    assert "One-time code required" in told(page)
    page = await admin.post("/account/codes/end", {"password": PASSWORD, "code": "1"}, status=400)
    await admin.post("/account/codes/end", {"password": PASSWORD, "code": recovery[0]})
    page = await admin.get("/account")
    assert "A login asks for the password alone." in page.text
    await other.log_in()


async def test_codes_that_wait_no_longer(admin: Visitor) -> None:
    page = await admin.post("/account/codes/confirm", {"code": "123456"}, status=409)
    assert "set them up again" in told(page)
    assert admin.page.all("input", name="password")
    page = await admin.post("/account/codes", {"password": NEW}, status=400)
    assert "wrong" in told(page)


async def test_sessions_are_listed_and_ended(admin: Visitor, node: Node) -> None:
    names = ("one", "<b>two</b>")
    others = [Visitor(base_url=admin.base_url, headers={"User-Agent": name}) for name in names]
    for other in others:
        await other.log_in()
    await node.log_in()
    page = await admin.get("/account")
    listed = [row for row in page.rows if len(row) == 7]
    assert sorted(row[0] for row in listed) == ["API client", "Console", "Console", "Console this one"]
    assert "<b>two</b>" in {row[2] for row in listed}
    ending = f"/account/sessions/{await session_of(node, others[0])}/end"
    assert ending in {one.attributes["action"] for one in page.all("form")}
    await admin.post(ending, {})
    await others[0].get("/account", status=303)
    await others[1].get("/account")
    await admin.get("/account")
    await admin.post(ending, {}, status=404)
    await admin.get("/account")
    await admin.post("/account/sessions/end-others", {})
    page = await admin.get("/account")
    assert "2 other sessions ended." in page.text
    await others[1].get("/account", status=303)


async def session_of(node: Node, visitor: Visitor) -> str:
    state = await node.parts.page_callers.state_of(visitor.cookie())
    assert state is not None
    return state.holder.id


async def test_an_api_token_is_shown_once_and_revoked(admin: Visitor, node: Node) -> None:
    fields = {"name": "ci <i>1</i>", "permissions": ["devices.access", "tasks.operate"], "expires_at": ""}
    page = await admin.post("/account/tokens", fields, status=200)
    (plain,) = (one.text for one in page.all("pre"))
    assert plain.startswith("nat_")
    (row,) = await node.documents("api_tokens")
    assert row["permissions"] == ["devices.access", "tasks.operate"]
    assert (row["expires_at"] - row["created_at"]).days == 90
    page = await admin.get("/account")
    assert plain not in page.html
    assert [row[0] for row in page.rows if len(row) == 6] == ["ci <i>1</i>"]
    await admin.post(f"/account/tokens/{row['_id']}/revoke", {})
    assert await node.documents("api_tokens") == []
    await admin.get("/account")
    await admin.post(f"/account/tokens/{row['_id']}/revoke", {}, status=404)
    await admin.get("/account")
    await admin.post("/account/tokens/x/revoke", {}, status=404)


async def test_the_end_of_an_api_token(admin: Visitor, node: Node) -> None:
    ends: tuple[tuple[dict[str, Any], str], ...] = (
        ({"expires_at": "2999-01-01"}, "2999-01-01 23:59:59"),  # a day is meant up to its end
        ({"expires_at": "2999-01-01", "never": ["", "on"]}, "None"),
        ({"expires_at": "", "never": ["", "on"]}, "None"),
    )
    for number, (fields, end) in enumerate(ends):
        await admin.get("/account")
        given = {"name": f"ci {number}", "permissions": "tasks.operate", **fields}
        await admin.post("/account/tokens", given, status=200)
        (row,) = await node.documents("api_tokens", {"name": given["name"]})
        assert str(row["expires_at"]).startswith(end)


async def test_api_tokens_that_are_refused(admin: Visitor, node: Node) -> None:
    refused: list[tuple[dict[str, Any], str]] = [
        ({"name": ""}, "name: Missing"),
        ({"expires_at": "2000-01-01"}, "expires_at: must be in the future"),
        ({"expires_at": "tomorrow"}, "expires_at: "),
        ({"permissions": ["x.y"]}, "permissions"),
    ]
    for change, text in refused:
        fields = {"name": "ci", "permissions": ["devices.access"], **change}
        page = await admin.post("/account/tokens", fields, status=400)
        assert text in told(page)
        assert page.all("input", name="name")[0].attributes["value"] == fields["name"]
        ticked = [one for one in page.all("input", name="permissions") if "checked" in one.attributes]
        assert [one.attributes["value"] for one in ticked] == [
            key for key in fields["permissions"] if key != "x.y"
        ]
    assert await node.documents("api_tokens") == []


async def test_nobody_gives_a_token_what_he_does_not_hold(node: Node, visitor: Visitor) -> None:
    await node.installation.add("vera", "viewer")
    await visitor.log_in("vera")
    page = await visitor.get("/account")
    offered = {one.attributes["value"] for one in page.all("input", type="checkbox", name="permissions")}
    assert offered == {"devices.access", "docs.read"}
    assert page.all("input", name="never") == []
    fields = {"name": "ci", "permissions": ["users.manage"]}
    await visitor.post("/account/tokens", fields, status=403)
    await visitor.get("/account")
    await visitor.post("/account/tokens", {"name": "ci", "permissions": "", "never": "on"}, status=403)
    assert await node.documents("api_tokens") == []


async def nothing_else(visitor: Visitor, form: str, but: tuple[str, ...] = ()) -> None:
    """The account page has this form alone, and all other forms lead to it. `but`: its second step."""
    page = await visitor.get("/account?x=1")
    assert {one.attributes["action"] for one in page.all("form")} == {"/logout", form}
    assert set(page.links.values()) == {
        "#main",
        "/",
        "/account",
        "/help/use/console#your-account-and-your-session",
    }
    for path in FORMS:
        if path not in (form, "/logout", *but):
            page = await visitor.post(path, {})
            assert page.headers["Location"] == "/account", path


async def test_whoever_must_change_the_password_comes_to_that_form_from_everywhere(
    node: Node, visitor: Visitor
) -> None:
    await node.installation.add("carla", "admin")
    await node.users.set_password(await node.installation.system(), "carla", PASSWORD, must_change=True)
    await visitor.log_in("carla")
    await nothing_else(visitor, "/account/password")
    assert "Change your password first." in visitor.page.text
    same = {**CHANGE, "new_password": PASSWORD}
    page = await visitor.post("/account/password", same, status=400)
    assert "must not be the password that has to be changed" in told(page)
    assert [one.text for one in page.all("h2")] == ["Password"]
    page = await visitor.post("/account/password", CHANGE)
    assert page.headers["Location"] == "/"
    page = await visitor.get("/account")
    assert "API tokens" in page.text


async def test_whoever_must_set_up_codes_comes_to_that_form_from_everywhere(
    start: NodeStarter, visit: Open
) -> None:
    node = await start(auth=AuthSettings(require_otp_roles=("admin",)))
    visitor = visit(node)
    await visitor.log_in()
    await nothing_else(visitor, "/account/codes", but=("/account/codes/confirm",))
    page = await visitor.get("/account")
    assert [one.text for one in page.all("h2")] == ["One-time codes"]
    page = await visitor.post("/account/password", CHANGE)
    assert page.headers["Location"] == "/account"
    page = await visitor.get("/account/x", status=404)
    secret, _ = await set_up_from(visitor)
    page = await visitor.post("/account/codes/confirm", {"code": code_of(node, secret)})
    assert page.headers["Location"] == "/"
    assert "API tokens" in (await visitor.get("/account")).text


async def set_up_from(visitor: Visitor) -> tuple[str, list[str]]:
    await visitor.get("/account")
    page = await visitor.post("/account/codes", {"password": PASSWORD}, status=200)
    return page.all("dd")[0].text, page.all("pre")[0].text.split()


async def test_a_user_of_a_directory_has_no_password_here(node: Node, visitor: Visitor) -> None:
    """Seen by somebody whose account became one of a directory."""
    await node.installation.add("dora", "viewer")
    await visitor.log_in("dora")
    users = node.installation.database.collection("users")
    await users.update({"username": "dora"}, {"$set": {"auth_provider": "ldap"}})
    node.authenticator.forget_all()
    page = await visitor.get("/account")
    assert "Your password is managed by LDAP." in page.text
    assert "One-time codes" not in page.text
    await visitor.post("/account/password", CHANGE, status=400)
    await visitor.get("/account")
    await visitor.post("/account/codes", {"password": PASSWORD}, status=400)


async def test_forms_of_strangers(admin: Visitor) -> None:
    """Of another origin, without the token, or with one of the login page."""
    other = Visitor(base_url=admin.base_url)
    await other.get("/login")
    strange: list[tuple[dict[str, str], dict[str, str]]] = [
        ({}, {"Origin": "https://evil.example"}),
        ({}, {"Origin": "null"}),
        ({}, {"Origin": "", "Sec-Fetch-Site": "cross-site"}),
        ({"_xsrf": ""}, {}),
        ({"_xsrf": other.hidden("_xsrf")}, {}),
    ]
    own = admin.hidden("_xsrf")
    for path in FORMS:
        for fields, headers in strange:
            await admin.post(path, {"_xsrf": own, **fields}, status=403, headers=headers)
    await admin.get("/account")
