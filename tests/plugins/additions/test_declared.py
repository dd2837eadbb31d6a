"""Permissions of plugins in roles, tokens and capabilities, and content types of plugins, in the service."""

from typing import Any

import pytest

from netautod.store.scoped import scoped
from tests.plugins.additions.conftest import Running
from tests.support.client import ApiClient, assert_error


@pytest.fixture(scope="module")
async def admin(running: Running) -> ApiClient:
    return await running.logged_in("admin")


@pytest.mark.parametrize(
    ("held", "status"),
    [
        ("lab.read", 201),
        ("lab.*", 201),
        ("reports.read", 201),
        ("lab.nothing", 400),
        ("laboratory.*", 400),
        ("gone.read", 400),
    ],
)
async def test_roles_and_tokens_hold_what_plugins_have_declared(
    admin: ApiClient, held: str, status: int
) -> None:
    permissions = ["devices.access", held]
    for path in ("/api/roles", "/api/auth/tokens"):
        answer = await admin.post(path, {"name": held, "permissions": permissions})
        assert answer.status == status, answer.content
        if status == 400:
            assert answer.json == {"error": f"permissions.1: There is no permission {held!r}"}


@pytest.mark.parametrize(
    ("name", "held", "shown"),
    [
        ("one", "lab.read", ["lab.read"]),
        ("both", "lab.*", ["lab.*", "lab.read", "lab.write"]),
    ],
)
async def test_capabilities_show_what_is_held(
    running: Running, name: str, held: str, shown: list[str]
) -> None:
    user = await running.user(name, held)
    assert (await user.get("/api/capabilities")).json["permissions"] == shown
    assert (await user.get("/api/auth/me")).json["permissions"] == [held]


async def test_an_administrator_is_shown_all_of_them(admin: ApiClient) -> None:
    shown = (await admin.get("/api/capabilities")).json["permissions"]
    assert {"*", "lab.read", "lab.write", "reports.read"} <= set(shown)


async def test_a_user_cannot_grant_what_he_does_not_hold(running: Running) -> None:
    user = await running.user("grantor", "users.manage", "lab.read")
    assert (await user.post("/api/roles", {"name": "r", "permissions": ["lab.read"]})).status == 201
    assert_error(await user.post("/api/roles", {"name": "w", "permissions": ["lab.write"]}), 403)


async def test_a_role_keeps_the_permission_of_a_plugin_that_is_gone(
    running: Running, admin: ApiClient
) -> None:
    made = (await admin.post("/api/roles", {"name": "kept", "permissions": ["lab.read"]})).expect(201)
    roles = scoped(running.installation.database, "roles")
    change = {"$set": {"permissions": ["gone.read", "lab.read"]}}
    await roles.update(running.organization, {"_id": made["id"]}, change)
    path = f"/api/roles/{made['id']}"
    shown = (await admin.get(path)).json
    assert shown["permissions"] == ["gone.read", "lab.read"]
    sent_back = {**shown, "description": "changed"}
    assert (await admin.put(path, sent_back)).json["permissions"] == ["gone.read", "lab.read"]
    wider = await admin.put(path, {"permissions": ["gone.read", "gone.write"]})
    assert_error(wider, 400, "permissions.1: there is no permission 'gone.write'")
    assert (await admin.put(path, {"permissions": ["gone.read"]})).json["permissions"] == ["gone.read"]


def document(content_type: str, content: str, **more: Any) -> dict[str, Any]:
    fields = {"name": "d", "category": "outputs", "content_type": content_type, "content": content}
    return {**fields, **more}


@pytest.mark.parametrize(
    ("content_type", "content", "text"),
    [
        pytest.param("lab", "another", "content: Not valid lab: it does not begin with lab", id="refused"),
        pytest.param("xml", "<a><b></a>", "content: Not valid xml: mismatched tag: line 1", id="xml"),
        pytest.param("xml", "<!DOCTYPE a []><a/>", "content: Not valid xml: it has a DTD", id="a DTD"),
        pytest.param("xml", "<a>" * 300 + "</a>" * 300, "nested over 200 levels deep", id="too deep"),
        pytest.param("gone", "x", "content_type: Must be one of: text, markdown,", id="no such type"),
        pytest.param("pdf", "x", "recording, lab, plain, xml", id="the types that there are are named"),
    ],
)
async def test_contents_that_are_refused(
    admin: ApiClient, content_type: str, content: str, text: str
) -> None:
    assert_error(await admin.post("/api/docs", document(content_type, content)), 400, text)
    made = (await admin.post("/api/docs", document("plain", content))).expect(201)
    changed = await admin.put(f"/api/docs/{made['id']}", {"content_type": content_type})
    assert_error(changed, 400, text)
    assert (await admin.get(f"/api/docs/{made['id']}")).json["content_type"] == "plain"
    assert (await admin.get(f"/api/docs/{made['id']}/versions")).json == []


async def test_a_content_that_is_changed_is_checked_by_its_type(admin: ApiClient) -> None:
    made = (await admin.post("/api/docs", document("lab", "lab 1"))).expect(201)
    path = f"/api/docs/{made['id']}"
    assert (await admin.put(path, {"content": "lab 2"})).json["content"] == "lab 2"
    assert_error(await admin.put(path, {"content": "3"}), 400, "content: not valid lab")
    assert (await admin.put(path, {"content": "3", "content_type": "text"})).json["content"] == "3"
    assert (await admin.put(path, {"name": "other"})).status == 200
    [_, first] = [one for one in (await admin.get(f"{path}/versions")).json if one][-2:]
    assert (await admin.post(f"{path}/restore/{first['id']}")).json["content"] == "lab 1"


@pytest.mark.parametrize(
    ("content_type", "content", "wanted"),
    [
        ("lab", "lab says", {"output": "lab says hello", "success": True, "error": None}),
        ("lab", "lab refuses", {"output": "", "success": False, "error": "there is nothing to see"}),
        (
            "lab",
            "lab breaks",
            {"output": "", "success": False, "error": "the plugin of this content type failed"},
        ),
        (
            "xml",
            '<rpc xmlns:n="urn:n"><n:get a="1"/></rpc>',
            {
                "output": '<?xml version="1.0" ?>\n<rpc xmlns:n="urn:n">\n  <n:get a="1"/>\n</rpc>\n',
                "success": True,
                "error": None,
            },
        ),
    ],
)
async def test_rendering(admin: ApiClient, content_type: str, content: str, wanted: Any) -> None:
    made = (await admin.post("/api/docs", document(content_type, content))).expect(201)
    rendered = await admin.post(f"/api/docs/{made['id']}/render", {"variables": {"name": "hello"}})
    assert rendered.expect() == wanted


async def test_a_type_without_a_renderer(admin: ApiClient) -> None:
    made = (await admin.post("/api/docs", document("plain", "x"))).expect(201)
    answer = await admin.post(f"/api/docs/{made['id']}/render", {})
    assert_error(answer, 400, "only a document of content_type jinja or lab or xml can be rendered")


async def test_a_check_that_fails_is_a_500_that_names_the_type(
    admin: ApiClient, caplog: pytest.LogCaptureFixture
) -> None:
    assert_error(await admin.post("/api/docs", document("lab", "fail")), 500, "internal server error")
    assert "the content type lab failed to check a content" in caplog.messages


async def test_a_document_of_a_removed_plugin_stays(running: Running, admin: ApiClient) -> None:
    made = (await admin.post("/api/docs", document("lab", "lab 1"))).expect(201)
    documents = scoped(running.installation.database, "documents")
    await documents.update(running.organization, {"_id": made["id"]}, {"$set": {"content_type": "gone"}})
    path = f"/api/docs/{made['id']}"
    read = (await admin.get(path)).expect()
    assert (read["content_type"], read["content"]) == ("gone", "lab 1")
    # What was read may be sent back, and changed; only to this type nothing else changes.
    assert (await admin.put(path, {**read, "content": "2"})).json["content"] == "2"
    assert_error(await admin.post(f"{path}/render", {}), 400, "can be rendered")
    assert (await admin.put(path, {"content_type": "text"})).json["content"] == "2"
    assert_error(await admin.put(path, {"content_type": "gone"}), 400, "content_type: must be one of")


async def test_an_encoding_that_is_declared_is_not_that_of_the_text(admin: ApiClient) -> None:
    content = '<?xml version="1.0" encoding="UTF-16"?><a>ü</a>'
    made = (await admin.post("/api/docs", document("xml", content))).expect(201)
    rendered = (await admin.post(f"/api/docs/{made['id']}/render", {})).expect()
    assert rendered["output"] == '<?xml version="1.0" ?>\n<a>ü</a>\n'
