"""GET /api/capabilities: what this installation offers and what the caller may do with it."""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields

from netautod import __version__
from netautod.auth.providers import Providers
from netautod.core.identity import Caller
from netautod.core.schema import Answer
from netautod.http.access import any_token
from netautod.http.handler import JsonHandler
from netautod.http.routes import Route
from netautod.users.models import LOCAL

LICENSE_TIER = "enterprise"
FEATURES = ("scheduled_tasks", "rbac", "shared_docs", "audit_logging", "sso", "central_ai")


class Capabilities:
    """`installed` says of each feature but `sso` whether this installation has it; `sso` is told by the
    auth providers."""

    def __init__(self, *, instance_name: str, providers: Providers, installed: Mapping[str, bool]) -> None:
        self._instance_name = instance_name
        self._providers = providers
        self._installed = installed

    def to_json(self, caller: Caller) -> dict[str, Any]:
        """`permissions` are those of the caller: of an API token what it may do, not what its owner may."""
        found = {**self._installed, "sso": self._sso()}
        return {
            "version": __version__,
            "license_tier": LICENSE_TIER,
            "instance_name": self._instance_name,
            "features": [{"name": name, "enabled": found[name]} for name in FEATURES],
            "permissions": sorted(caller.permissions),
        }

    def _sso(self) -> bool:
        listed = self._providers.to_json()["providers"]
        return any(provider["enabled"] for provider in listed if provider["name"] != LOCAL)


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
