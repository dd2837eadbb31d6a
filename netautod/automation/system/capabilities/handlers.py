"""The route GET /api/capabilities, and the schemas of its answer."""

from marshmallow import fields

from netautod import __version__
from netautod.automation.system.capabilities.service import Capabilities, shown_permissions
from netautod.core.schema.bases import Answer
from netautod.http.access import any_token
from netautod.http.handler import JsonHandler
from netautod.http.routing.routes import Route
from netautod.identity.auth.schemas import token_view, used_token

LICENSE_TIER = "enterprise"


class FeatureAnswer(Answer):
    name = fields.String()
    enabled = fields.Boolean()


class CapabilitiesAnswer(Answer):
    version = fields.String()
    license_tier = fields.String()
    instance_name = fields.String()
    features = fields.List(fields.Nested(FeatureAnswer))
    permissions = fields.List(fields.String())
    token = used_token()


class CapabilitiesHandler(JsonHandler):
    capabilities: Capabilities

    @any_token(answer=CapabilitiesAnswer)
    async def get(self) -> None:
        """Return version, features, and the caller's permissions; of an API token also its name and end."""
        features = self.capabilities.features
        self.answer(
            {
                "version": __version__,
                "license_tier": LICENSE_TIER,
                "instance_name": self.capabilities.instance_name,
                "features": [{"name": name, "enabled": features[name]} for name in features],
                **token_view(self.caller),
                # For an API token its own permissions, not those of its owner.
                "permissions": shown_permissions(
                    self.caller.shown_permissions, self.capabilities.permissions.of_plugins
                ),
            }
        )


ROUTES = (Route(path="/api/capabilities", handler=CapabilitiesHandler),)
