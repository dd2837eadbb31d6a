"""/login and /logout: with a password and a code, by redirect, and the end of it."""

from collections.abc import Awaitable

from netautod.console.base.forms import FORM
from netautod.console.base.pages import PageHandler
from netautod.console.base.refusals import in_the_form
from netautod.core.errors import UpstreamFailed
from netautod.core.identity.refusals import TokenRefused
from netautod.http.access import any_token, public
from netautod.http.routing.routes import Route
from netautod.identity.auth.pages.cookie import SESSION
from netautod.identity.auth.pages.service import CodePrompt, PageLogins
from netautod.identity.auth.pages.targets import LOGIN, login_page, page_to
from netautod.identity.auth.providers.registry import PASSWORD, REDIRECT, ProviderEntry
from netautod.identity.auth.redirect.browser import bind
from netautod.identity.auth.redirect.service import FAILURES, RedirectLogins
from netautod.identity.auth.schemas import SMALL_BODY, OtpCodeBody, ProviderLoginBody
from netautod.identity.auth.service import AuthService
from netautod.identity.users.models import LOCAL

SENTENCES = {word: text for text, word in FAILURES.items()}


class LoginPage(PageHandler):
    auth: AuthService
    logins: PageLogins
    # The right password of the first step, as the second one shows it.
    _ticket = ""

    @public()
    async def get(self) -> None:
        """Show the form of the first step."""
        self.error = SENTENCES.get(self.query_texts().get("failed", ""), "")
        await self._show_form()

    @public(consumes=FORM, body_limit=SMALL_BODY, grows=False)
    async def post(self) -> None:
        """Take either step: username and password, or the code that follows them."""
        self._ticket = self.form.text("ticket")
        try:
            await self.submit(self._step(), again=self._show_form)
        except TokenRefused as error:  # the ticket is used up, or too old
            await self.record_refusal(error)
            self._ticket, self.error, self.page_status = "", error.text, 400
            await self._show_form()

    async def _step(self) -> str | None:
        work = self._with_code() if self._ticket else self._with_password()
        result = await in_the_form(work)
        if isinstance(result, CodePrompt):
            self._ticket = result.ticket
            await self._show_form()
            return None
        # A cookie that the browser had before, perhaps planted by an attacker, is worth nothing from now on.
        await self.logins.replace(self.cookie(SESSION))
        self.keep_cookie(SESSION, result)
        return self._wanted()

    def _with_password(self) -> Awaitable[str | CodePrompt]:
        given = self.form.values(ProviderLoginBody(only=("provider", "username", "password")))
        return self.logins.log_in(given["provider"], given["username"], given["password"], self.info)

    def _with_code(self) -> Awaitable[str | CodePrompt]:
        code = self.form.values(OtpCodeBody())["code"]
        return self.logins.with_code(self._ticket, code, self.info)

    def _wanted(self) -> str:
        return page_to(self.form.text("next") or self.query_texts().get("next"))

    async def _show_form(self) -> None:
        self.begin_visit()
        wanted = self._wanted()
        if self._ticket:
            again = login_page(wanted)
            self.show(
                "login/code.html", title="One-time code", ticket=self._ticket, next=wanted, begin_again=again
            )
            return
        self.show(
            "login/password.html",
            title="Log in",
            next=wanted,
            provider=self.query_texts().get("provider", LOCAL),
            providers=[(one.name, one.title) for one in self._enabled(PASSWORD)],
            redirects=[(f"{LOGIN}/{one.name}", one.title) for one in self._enabled(REDIRECT)],
        )

    def _enabled(self, kind: str) -> list[ProviderEntry]:
        return [one for one in self.auth.providers.entries if one.enabled and kind in one.kinds]


class RedirectLoginPage(PageHandler):
    redirect_logins: RedirectLogins

    @public()
    async def get(self, provider: str) -> None:
        """Send the browser to the login page: a link or a picture of another site must not begin a login."""
        self.redirect_to(login_page(page_to(self.query_texts().get("next"))))

    @public(consumes=FORM, body_limit=SMALL_BODY, changes=False)
    async def post(self, provider: str) -> None:
        """Send the browser to the identity provider; the login ends at /api/auth/.../callback.

        It goes on by itself: browsers refuse a form whose answer redirects to another origin (CSP3,
        form-action).
        """
        wanted = page_to(self.form.text("next"))
        try:
            login = await self.redirect_logins.begin_page(provider, wanted)
        except UpstreamFailed as error:
            self.redirect_to(login_page(wanted, FAILURES[error.text]))
        else:
            bind(self, login.cookie)
            self.show("login/redirect.html", title="Log in", url=login.url)


class LogoutPage(PageHandler):
    auth: AuthService

    @any_token(consumes=FORM, body_limit=SMALL_BODY, grows=False)
    async def post(self) -> None:
        """End this session, as the API's logout does."""
        await self.auth.logout(self.caller)
        self.drop_cookie(SESSION)
        self.redirect_to(LOGIN)


PAGES = (
    Route(path="/login", handler=LoginPage),
    Route(path="/login/:provider", handler=RedirectLoginPage),
    Route(path="/logout", handler=LogoutPage),
)
