"""GET /api/capabilities, and the schemas of its answer."""

from marshmallow import fields

from netautod.core.schema import Answer
from netautod.http.access import any_token
from netautod.http.handler import JsonHandler
from netautod.http.routes import Route
from netautod.system.capabilities.service import Capabilities


class FeatureAnswer(Answer):
    name = fields.String()
    enabled = fields.Boolean()


class CapabilitiesAnswer(Answer):
    version = fields.String()
    license_tier = fields.String()
    instance_name = fields.String()
    features = fields.List(fields.Nested(FeatureAnswer))
    permissions = fields.List(fields.String())


class CapabilitiesHandler(JsonHandler):
    capabilities: Capabilities

    @any_token(answer=CapabilitiesAnswer)
    async def get(self) -> None:
        """Version, features, and the caller's permissions."""
        self.answer(self.capabilities.to_json(self.caller))


ROUTES = (Route(path="/api/capabilities", handler=CapabilitiesHandler),)
