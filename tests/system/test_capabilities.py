"""GET /api/capabilities: the features, and the permissions of the one who asks."""

import pytest

from netautod import __version__
from netautod.auth.providers import Providers
from netautod.system.capabilities.service import FEATURES, Capabilities
from tests.support.client import assert_error
from tests.support.serving import Serve

INSTALLED = {
    "scheduled_tasks": True,
    "rbac": True,
    "shared_docs": False,
    "audit_logging": True,
    "central_ai": False,
}


@pytest.fixture
def capabilities() -> Capabilities:
    return Capabilities(instance_name="lab", providers=Providers([]), installed=INSTALLED)


async def test_any_token_reads_them(serve: Serve, capabilities: Capabilities) -> None:
    served = await serve(capabilities)
    client, _ = served.client("docs.manage", "devices.access")
    answer = await client.get("/api/capabilities")
    assert answer.json == {
        "version": __version__,
        "license_tier": "enterprise",
        "instance_name": "lab",
        "features": [{"name": name, "enabled": {**INSTALLED, "sso": False}[name]} for name in FEATURES],
        "permissions": ["devices.access", "docs.manage"],
    }
    assert_error(await client.with_token(None).get("/api/capabilities"), 401)
