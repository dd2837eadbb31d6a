"""GET /api/capabilities: the features, and the permissions of the one who asks."""

import pytest

from netautod import __version__
from netautod.automation.system.capabilities.service import ALSO_SHOWN, FEATURES, Capabilities
from netautod.core.identity.permissions import PermissionKeys, is_permission
from netautod.identity.auth.providers.registry import Providers
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
    return Capabilities(
        instance_name="lab", providers=Providers([]), installed=INSTALLED, permissions=PermissionKeys()
    )


async def test_any_token_reads_them(serve: Serve, capabilities: Capabilities) -> None:
    served = await serve(capabilities)
    client, _ = served.client("docs.manage", "devices.access")
    answer = await client.get("/api/capabilities")
    assert answer.json == {
        "version": __version__,
        "license_tier": "enterprise",
        "instance_name": "lab",
        "features": [{"name": name, "enabled": {**INSTALLED, "sso": False}[name]} for name in FEATURES],
        "permissions": ["devices.access", "docs.manage", "sessions.connect"],
    }
    assert_error(await client.with_token(None).get("/api/capabilities"), 401)


@pytest.mark.parametrize(
    ("held", "shown"),
    [
        pytest.param(["devices.access"], ["devices.access", "sessions.connect"], id="who reads devices"),
        pytest.param(["devices.manage"], ["devices.manage", "sessions.connect"], id="who changes devices"),
        pytest.param(["devices.*"], ["devices.*", "sessions.connect"], id="a wildcard over devices"),
        pytest.param(["tasks.operate"], ["agents.manage", "tasks.operate"], id="who runs tasks"),
        pytest.param(["tasks.*"], ["agents.manage", "tasks.*"], id="a wildcard over tasks"),
        pytest.param(["*"], ["*", "agents.manage", "sessions.connect"], id="who may do everything"),
        pytest.param(["docs.manage"], ["docs.manage"], id="who has to do with neither"),
        pytest.param([], [], id="nobody in particular"),
    ],
)
async def test_what_a_desktop_client_looks_for_is_named(
    serve: Serve, capabilities: Capabilities, held: list[str], shown: list[str]
) -> None:
    client, _ = (await serve(capabilities)).client(*held)
    assert (await client.get("/api/capabilities")).json["permissions"] == shown


async def test_the_shown_keys_open_nothing() -> None:
    assert not any(is_permission(key) for key in ALSO_SHOWN)
    assert not any(is_permission(f"{key.partition('.')[0]}.*") for key in ALSO_SHOWN)
