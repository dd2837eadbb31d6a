"""/api/ssh-ca: the authority that servers trust, and the certificates that they must refuse."""

from collections.abc import Mapping
from typing import Any, ClassVar

from marshmallow import fields, validate

from netautod.core.schema.bases import Answer, Id, Integer, Request
from netautod.http.access import any_token, public, requires
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.identity.auth.ssh_ca.revocation import Revocation
from netautod.identity.auth.ssh_ca.service import SshAuthority

LARGEST_SERIAL = (1 << 63) - 1  # of an int64, which BSON keeps


class SshCaAnswer(Answer):
    ca_public_key = fields.String()
    fingerprint = fields.String(validate=validate.Regexp(r"^SHA256:[A-Za-z0-9+/]{43}$"))


class SshCaHandler(JsonHandler):
    ssh_ca: SshAuthority

    @any_token(answer=SshCaAnswer)
    async def get(self) -> None:
        """Show the public key of the organization's SSH certificate authority, for TrustedUserCAKeys."""
        self.answer((await self.ssh_ca.public_key(self.caller.org_id)).to_json())


class RevokeBody(Request):
    example: ClassVar[Mapping[str, Any]] = {"serial": 17}
    serial = Integer(validate=validate.Range(min=1, max=LARGEST_SERIAL))
    user_id = Id()


class RevokeAnswer(Answer):
    revoked = fields.Integer()


class RevocationListHandler(JsonHandler):
    revocation: Revocation

    @public(produces="application/octet-stream", name="get_key_revocation_list")
    async def get(self) -> None:
        """Serve the OpenSSH key revocation list of all authorities here, for RevokedKeys."""
        current = await self.revocation.current()
        self.set_header("Content-Type", "application/octet-stream")
        self.finish(current.content)


class RevokeHandler(JsonHandler):
    revocation: Revocation

    @requires(
        "users.manage",
        body=RevokeBody,
        answer=RevokeAnswer,
        errors=(404,),
        grows=False,
        name="revoke_certificates",
    )
    async def post(self) -> None:
        """Revoke a certificate by its serial number, or all of a user."""
        revoked = await self.revocation.revoke(
            self.caller, serial=self.body.get("serial"), user_id=self.body.get("user_id")
        )
        self.answer({"revoked": revoked})


ROUTES = (
    Route(path="/api/ssh-ca", handler=SshCaHandler),
    Route(path="/api/ssh-ca/krl", handler=RevocationListHandler),
    Route(path="/api/ssh-ca/revoke", handler=RevokeHandler),
)
