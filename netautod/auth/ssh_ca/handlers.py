"""GET /api/ssh-ca: the authority that servers are told to trust."""

from marshmallow import fields, validate

from netautod.auth.ssh_ca.service import SshAuthority
from netautod.core.schema import Answer
from netautod.http.access import any_token
from netautod.http.handler import JsonHandler
from netautod.http.routes import Route


class SshCaAnswer(Answer):
    ca_public_key = fields.String()
    fingerprint = fields.String(validate=validate.Regexp(r"^SHA256:[A-Za-z0-9+/]{43}$"))


class SshCaHandler(JsonHandler):
    ssh_ca: SshAuthority

    @any_token(answer=SshCaAnswer)
    async def get(self) -> None:
        """The public key of the organization's SSH certificate authority, for TrustedUserCAKeys."""
        self.answer((await self.ssh_ca.public_key(self.caller.org_id)).to_json())


ROUTES = (Route(path="/api/ssh-ca", handler=SshCaHandler),)
