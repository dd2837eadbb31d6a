"""/api/auth/otp, and the removal of another user's codes."""

from netautod.http.access import any_token, requires
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.identity.auth.otp.service import OtpService
from netautod.identity.auth.schemas import SMALL_BODY, NewOtpAnswer, OtpBody, OtpCodeBody, OtpEndBody


class OtpBase(JsonHandler):
    otp: OtpService


class OtpHandler(OtpBase):
    @any_token(body=OtpBody, answer=NewOtpAnswer, body_limit=SMALL_BODY, grows=False, name="begin_otp")
    async def post(self) -> None:
        """Create a secret for one-time codes, and recovery codes; shown once, in force when confirmed."""
        new = await self.otp.begin(self.caller, self.body["password"], self.body.get("code"))
        self.answer(new.to_json())

    @any_token(status=204, body=OtpEndBody, body_limit=SMALL_BODY, errors=(404,))
    async def delete(self) -> None:
        """End one's own one-time codes, with the password and a code."""
        await self.otp.end(self.caller, self.body["password"], self.body["code"])
        self.answer_nothing()


class OtpConfirmHandler(OtpBase):
    @any_token(status=204, body=OtpCodeBody, body_limit=SMALL_BODY, grows=False)
    async def post(self) -> None:
        """Put the one-time codes in force: a login requires them from now on."""
        await self.otp.confirm(self.caller, self.body["code"])
        self.answer_nothing()


class UserOtpHandler(OtpBase):
    @requires("users.manage", status=204)
    async def delete(self, user_id: str) -> None:
        """Remove the one-time codes of a user who holds nothing that the caller does not hold."""
        await self.otp.remove(self.caller, self.path_id(user_id, "User"))
        self.answer_nothing()


ROUTES = (
    Route(path="/api/auth/otp", handler=OtpHandler),
    Route(path="/api/auth/otp/confirm", handler=OtpConfirmHandler),
    Route(path="/api/users/:id/otp", handler=UserOtpHandler),
)
