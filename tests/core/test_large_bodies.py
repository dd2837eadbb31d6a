"""What people really send is taken: the largest legitimate values, through the reader of bodies."""

from typing import Any

import pytest

from netautod.assembly.routes import ROUTES, description
from netautod.automation.tasks.schemas import AgentScheduleCreate, TaskCreate
from netautod.core.json.values import decode, encode
from netautod.core.schema.bases import Request, load
from netautod.documents.schemas import DocumentRequest, RenderRequest
from netautod.identity.auth.schemas import ApiTokenBody, LoginBody
from netautod.identity.users.schemas import UserCreate
from netautod.network.configs.schemas import BulkPullRequest, NotesRequest
from netautod.network.credentials.schemas import CredentialRequest
from netautod.network.devices.operations.schemas import CommandRequest
from netautod.network.devices.schemas import DeviceRequest
from netautod.network.devices.vouching.schemas import VouchRequest
from netautod.network.inventory.sync.schemas import AdHocRequest

ID = "00000000-0000-4000-8000-000000000001"
KIB = 1024
SLUGS = {name: ["s" * 255] * 200 for name in ("sites", "roles", "tags", "tenants", "platforms")}
TABLE = {"vlans": [{"id": number, "name": f"v{number}"} for number in range(20_000)]}


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        pytest.param(
            CredentialRequest, "secret", "k" * 32 * KIB, id="the private key of RSA with 16,384 bits"
        ),
        pytest.param(CredentialRequest, "description", "d" * 4096, id="a description"),
        pytest.param(CredentialRequest, "allowed_hosts", ["192.0.2.0/24"] * 256, id="allowed hosts"),
        pytest.param(AgentScheduleCreate, "prompt", "p" * 64 * KIB, id="a prompt of 64 KiB"),
        pytest.param(NotesRequest, "notes", "n" * 4096, id="notes of a version"),
        pytest.param(DocumentRequest, "content", "\n" * (8 * KIB * KIB - 100), id="a document of 8 MiB"),
        pytest.param(RenderRequest, "variables", TABLE, id="a table of 20,000 rows for a template"),
        pytest.param(RenderRequest, "variables", {"text": "x" * 1_000_000}, id="a long text for a template"),
        pytest.param(DeviceRequest, "connect_commands", ["c" * 1024] * 100, id="commands at connect"),
        pytest.param(DeviceRequest, "metadata", {"a": [1] * 32_000}, id="64 KiB of small metadata"),
        pytest.param(TaskCreate, "parameters", {"a": [[]] * 174_000}, id="512 KiB of small parameters"),
        pytest.param(TaskCreate, "parameters", {"a": [1] * 262_000}, id="512 KiB of digits"),
        pytest.param(AdHocRequest, "filters", SLUGS, id="filters of 200 slugs of 255 characters each"),
        pytest.param(AdHocRequest, "token", "t" * 4096, id="a token of another system"),
        pytest.param(CommandRequest, "command", "c" * 4096, id="a command"),
        pytest.param(LoginBody, "password", "p" * 4096, id="a long password"),
        pytest.param(LoginBody, "public_key", "k" * 16 * KIB, id="a public key"),
        pytest.param(UserCreate, "external_id", "e" * 1024, id="the entry of a directory"),
        pytest.param(ApiTokenBody, "permissions", ["tasks.operate"] * 500, id="permissions"),
        pytest.param(BulkPullRequest, "device_ids", [ID] * 10_000, id="devices to pull"),
        pytest.param(VouchRequest, "device_ids", [ID] * 10_000, id="devices to vouch for"),
    ],
)
def test_it_is_taken(kind: type[Request], field: str, value: Any) -> None:
    loaded = load(kind(), decode(encode({field: value})), partial=True)
    assert len(loaded[field]) == len(value)


def test_the_description_shows_the_bound_of_every_text_and_array_of_a_request() -> None:
    schemas = description()["components"]["schemas"]
    bodies = {
        operation.body.__name__
        for route in ROUTES
        for operation in route.operations().values()
        if operation.body is not None
    }
    missing = [
        f"{kind}.{name}"
        for kind in bodies & schemas.keys()
        for name, shown in schemas[kind].get("properties", {}).items()
        if "enum" not in shown
        for sort, bound in (("string", "maxLength"), ("array", "maxItems"))
        if sort in shown.get("type", ()) and bound not in shown
    ]
    assert missing == []
    assert schemas["LoginBody"]["properties"]["password"]["maxLength"] == 4096
    assert schemas["CredentialRequest"]["properties"]["secret"]["maxLength"] == 65_536
