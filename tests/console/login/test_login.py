"""The login and the logout as a person does them: pages, cookies, refusals, the second step."""

import pyotp
import pytest

from tests.console.login.conftest import Open
from tests.identity.auth.support import INFO, Node, NodeStarter
from tests.support.client import ApiClient
from tests.support.installation import PASSWORD
from tests.support.pages import LoadedPage
from tests.support.visitor import Visitor

TLS = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "netautod.example"}
WRONG = "wrong horse battery staple"


async def test_whoever_has_no_session_comes_back_after_the_login(visitor: Visitor) -> None:
    page = await visitor.get("/account?x=1", status=303)
    assert page.headers["Location"] == "/login?next=%2Faccount%3Fx%3D1"
    page = await visitor.log_in(path=page.headers["Location"])
    assert page.headers["Location"] == "/account?x=1"
    assert (await visitor.get("/account")).heading == "Account"


async def test_the_form(visitor: Visitor) -> None:
    page = await visitor.get("/login")
    labels = {one.text for one in page.all("label")}
    assert {"Username", "Password"} <= labels
    assert page.controls == {"Log in"}
    (password,) = page.all("input", name="password")
    assert password.attributes["autocomplete"] == "current-password"
    assert (page.heading, [one.text for one in page.all("title")]) == ("Log in", ["Log in - netautod"])
    assert page.all("select") == []  # there is no choice


@pytest.mark.parametrize(
    ("headers", "name", "secure"),
    [
        pytest.param({}, "netautod", "", id="in clear"),
        pytest.param(TLS, "__Host-netautod", True, id="behind a proxy that ends TLS"),
    ],
)
async def test_the_cookie(
    node: Node, visit: Open, headers: dict[str, str], name: str, secure: bool | str
) -> None:
    visitor = visit(node, **headers)
    await visitor.log_in()
    cookie = visitor.cookies[name]
    assert (cookie["path"], cookie["secure"], cookie["httponly"]) == ("/", secure, True)
    assert (cookie["samesite"], cookie["domain"], cookie["max-age"]) == ("Lax", "", "")
    assert len(cookie.value) == 43
    await visitor.get("/account")
    for planted in {"netautod", "__Host-netautod", "netautod_form"} - {name}:
        page = await visitor.get("/account", status=303, Cookie=f"{planted}={cookie.value}")
        assert page.headers["Location"] == "/login?next=%2Faccount"


async def test_the_cookie_opens_pages_and_a_token_the_api(node: Node, visitor: Visitor) -> None:
    await visitor.log_in()
    tokens = await node.log_in()
    api = ApiClient(base_url=visitor.base_url, description={"paths": {}})
    assert api.description
    for path in ("/api/auth/me", "/api/auth/sessions", "/api/auth/tokens"):
        page = await visitor.get(path, status=401)
        assert page.headers["Content-Type"] == "application/json"
    for token in (tokens.access_token, visitor.cookie()):
        other = Visitor(base_url=visitor.base_url)
        page = await other.get("/account", status=303, Authorization=f"Bearer {token}")
        assert page.headers["Location"].startswith("/login")
        page = await other.get("/account", status=303, Cookie=f"netautod={tokens.access_token}")
        assert page.headers["Location"].startswith("/login")


async def test_a_login_makes_a_new_cookie_and_ends_what_the_browser_had(node: Node, visitor: Visitor) -> None:
    await visitor.log_in()
    first = visitor.cookie()
    await visitor.log_in()
    assert visitor.cookie() != first
    assert [one["ended_at"] is None for one in await node.documents("sessions")] == [False, True]
    other = Visitor(base_url=visitor.base_url)
    await other.get("/account", status=303, Cookie=f"netautod={first}")


async def test_a_cookie_that_was_planted_is_not_what_the_login_makes(node: Node, visitor: Visitor) -> None:
    planted = "A" * 43
    await visitor.get("/login", Cookie=f"netautod={planted}")
    fields = {"username": "admin", "password": PASSWORD}
    jar = "; ".join(
        [f"netautod={planted}", *(f"{name}={one.value}" for name, one in visitor.cookies.items())]
    )
    await visitor.post("/login", fields, headers={"Cookie": jar})
    assert visitor.cookie() not in ("", planted)
    await visitor.get("/account", status=303, Cookie=f"netautod={planted}")


def told(page: LoadedPage) -> str:
    (found,) = page.all("p", class_="error")
    return found.text


async def test_wrong_passwords_keep_the_name_and_are_locked_out_in_the_words_of_the_api(
    node: Node, visitor: Visitor
) -> None:
    for left in range(9, -1, -1):
        page = await visitor.log_in("admin", WRONG, path="/login?next=/account", status=400)
        attempts = "1 attempt" if left == 1 else f"{left} attempts"
        assert f"Invalid username or password. {attempts} remaining." in told(page)
        (name,) = page.all("input", name="username")
        assert name.attributes["value"] == "admin"
        assert WRONG not in page.html
        assert visitor.hidden("next") == "/account"
    page = await visitor.log_in("admin", PASSWORD, status=429)
    assert "Too many failed login attempts. Please try again later." in told(page)
    assert page.headers["Retry-After"] == "900"
    assert visitor.cookie() == ""
    node.clock.move(901)
    await visitor.log_in("admin", PASSWORD)


async def test_forms_that_are_refused(visitor: Visitor) -> None:
    given = {"username": "admin", "password": PASSWORD}
    for change, text in (
        ({"username": ""}, "username: Missing"),
        ({"password": ""}, "password: Missing"),
        ({"username": "x" * 256}, "username: "),
        ({"username": "nobody"}, "Invalid username or password. 9 attempts remaining."),
        ({"provider": "ldap"}, "LDAP login is not enabled"),
        ({"provider": "x"}, "There is no auth provider"),
    ):
        await visitor.get("/login")
        page = await visitor.post("/login", {**given, **change}, status=400)
        assert text in told(page)
        assert PASSWORD not in page.html
    await visitor.post("/login", {**given, "username": "admin\x00"}, status=400)
    assert visitor.cookie() == ""


async def test_the_logout_ends_the_session_here_and_elsewhere(start: NodeStarter, visit: Open) -> None:
    here, there = await start(), await start()
    visitor, other = visit(here), visit(there)
    await visitor.log_in()
    cookie = visitor.cookie()
    await other.get("/account", Cookie=f"netautod={cookie}")
    page = await visitor.get("/account")
    assert "Log out" in page.controls
    page = await visitor.post("/logout", {})
    assert (page.headers["Location"], visitor.cookie()) == ("/login", "")
    await visitor.get("/account", status=303, Cookie=f"netautod={cookie}")
    there.clock.move(1)
    await other.get("/account", status=303, Cookie=f"netautod={cookie}")
    assert "auth.logout" in await here.actions()


async def test_a_session_that_is_revoked_elsewhere_is_led_to_the_login_within_a_second(
    start: NodeStarter, visit: Open
) -> None:
    here, there = await start(), await start()
    visitor = visit(here)
    await visitor.log_in()
    await visitor.get("/account")
    caller = await there.parts.page_callers.caller_of(visitor.cookie(), INFO, by_person=True)
    assert caller.session_id is not None
    await there.parts.account.end_session(caller, caller.session_id)
    here.clock.move(1)
    page = await visitor.get("/account", status=303)
    assert page.headers["Location"] == "/login?next=%2Faccount"


async def test_the_idle_time_passes_while_a_page_looks_for_news_by_itself(
    node: Node, visitor: Visitor
) -> None:
    await visitor.log_in()
    for _ in range(7):
        node.clock.move(3600)
        await visitor.get("/account", by_itself=True)
    node.clock.move(3599)
    await visitor.get("/account")
    node.clock.move(8 * 3600)
    await visitor.get("/account", status=401, by_itself=True)
    await visitor.get("/account", status=303)


async def test_the_logout_without_a_session(visitor: Visitor) -> None:
    await visitor.get("/login")
    page = await visitor.post("/logout", {})
    assert page.headers["Location"] == "/login"
    await visitor.get("/logout", status=405)


async def test_forms_of_other_origins_and_without_their_token(visitor: Visitor) -> None:
    other = Visitor(base_url=visitor.base_url)
    await other.get("/login")
    strange: list[tuple[dict[str, str], dict[str, str]]] = [
        ({}, {"Origin": "https://evil.example"}),
        ({}, {"Origin": "null"}),
        ({}, {"Origin": "http://127.0.0.1"}),
        ({}, {"Origin": visitor.base_url.replace("http", "https")}),
        ({}, {"Origin": f"{visitor.base_url}.evil.example"}),
        ({}, {"Origin": "", "Sec-Fetch-Site": "cross-site"}),
        ({}, {"Origin": "", "Sec-Fetch-Site": "same-site"}),
        ({"_xsrf": ""}, {}),
        ({"_xsrf": "0" * 128}, {}),
        ({"_xsrf": "x"}, {}),
        ({"_xsrf": "\u00e4"}, {}),
        ({"_xsrf": other.hidden("_xsrf")}, {}),
    ]
    credentials = {"username": "admin", "password": PASSWORD}
    await visitor.get("/login")
    own = visitor.hidden("_xsrf")
    for fields, headers in strange:
        await visitor.post("/login", {**credentials, "_xsrf": own, **fields}, status=403, headers=headers)
    assert visitor.cookie() == ""
    await visitor.log_in()
    await visitor.get("/account")
    own = visitor.hidden("_xsrf")
    for fields, headers in strange:
        page = await visitor.post("/logout", {"_xsrf": own, **fields}, status=403, headers=headers)
        assert page.headers["X-Request-Id"] in page.text
    await visitor.get("/account")


class Carla:
    """A user with one-time codes."""

    def __init__(self, node: Node, secret: str, recovery: tuple[str, ...]) -> None:
        self.node, self.secret, self.recovery = node, secret, recovery

    @property
    def code(self) -> str:
        return pyotp.TOTP(self.secret).generate_otp(int(self.node.clock.now().timestamp()) // 30)


@pytest.fixture
async def carla(node: Node) -> Carla:
    await node.installation.add("carla", "operator")
    cookie = await node.parts.page_logins.log_in("local", "carla", PASSWORD, INFO)
    assert isinstance(cookie, str)
    caller = await node.parts.page_callers.caller_of(cookie, INFO, by_person=True)
    new = await node.parts.otp.begin(caller, PASSWORD, None)
    made = Carla(node, new.secret, new.recovery_codes)
    await node.parts.otp.confirm(caller, made.code)
    node.clock.move(30)
    return made


async def test_the_second_step(visitor: Visitor, carla: Carla) -> None:
    page = await visitor.log_in("carla", path="/login?next=/account", status=200)
    (code,) = page.all("input", name="code")
    assert code.attributes["autocomplete"] == "one-time-code"
    assert {"Code"} <= {one.text for one in page.all("label")}
    assert page.controls == {"Log in"}
    assert PASSWORD not in page.html
    assert visitor.cookie() == ""
    step = {"ticket": visitor.hidden("ticket"), "next": visitor.hidden("next")}
    page = await visitor.post("/login", {**step, "code": "abc def"}, status=400)
    assert "Invalid username or password. 9 attempts remaining." in told(page)
    assert visitor.hidden("ticket") == step["ticket"]
    page = await visitor.post("/login", {**step, "code": ""}, status=400)
    assert "code: Missing" in told(page)
    page = await visitor.post("/login", {**step, "code": carla.code})
    assert page.headers["Location"] == "/account"
    await visitor.get("/account")


async def test_the_second_step_is_done_once(visitor: Visitor, carla: Carla) -> None:
    await visitor.log_in("carla", status=200)
    step = {"ticket": visitor.hidden("ticket")}
    await visitor.post("/login", {**step, "code": carla.code})
    thief = Visitor(base_url=visitor.base_url)
    for code in (carla.code, carla.recovery[0]):
        await thief.get("/login")
        page = await thief.post("/login", {**step, "code": code}, status=400)
        assert "begin again" in told(page)
        assert {"Username", "Password"} <= {one.text for one in page.all("label")}
    assert thief.cookie() == ""


async def test_a_recovery_code_does_in_the_place_of_a_code(visitor: Visitor, carla: Carla) -> None:
    await visitor.log_in("carla", status=200)
    await visitor.post("/login", {"ticket": visitor.hidden("ticket"), "code": carla.recovery[0].upper()})


async def test_the_password_in_the_second_step_is_not_looked_at(visitor: Visitor, carla: Carla) -> None:
    """Who sends all at once gets no further than the ticket."""
    await visitor.get("/login")
    fields = {"username": "carla", "password": PASSWORD, "ticket": "x" * 43, "code": carla.code}
    page = await visitor.post("/login", fields, status=400)
    assert "begin again" in told(page)


async def test_providers_that_send_nobody_anywhere(visitor: Visitor) -> None:
    for path, status in (("oidc", 400), ("ldap", 400), ("local", 400), ("nobody", 404)):
        await visitor.get("/login")
        page = await visitor.post(f"/login/{path}", {}, status=status)
        assert page.headers["X-Request-Id"] in page.text
