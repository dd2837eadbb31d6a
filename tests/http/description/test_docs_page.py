"""The page of the API: self-contained, under a policy that its own parts satisfy, and JSON in every error."""

import hashlib
import re
import shutil
from base64 import b64encode
from pathlib import Path

import pytest

from netautod.assembly import routes
from netautod.http.description import docs_page
from tests.http.description.page_in_node import rendered
from tests.support.client import ApiClient, assert_error
from tests.support.serving import Serve

node_only = pytest.mark.skipif(shutil.which("node") is None, reason="needs node (apt-get install nodejs)")


@pytest.fixture
async def anyone(serve: Serve) -> ApiClient:
    return (await serve(docs_page.DocsPage.read())).client()[0].with_token(None)


async def test_anyone_gets_the_page_as_html(anyone: ApiClient) -> None:
    response = await anyone.get("/api/docs-ui")
    assert response.status == 200
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.content.startswith(b"<!doctype html>")


async def test_the_policy_allows_the_parts_of_the_page_and_nothing_else(anyone: ApiClient) -> None:
    response = await anyone.get("/api/docs-ui")
    policy = dict(part.split(" ", 1) for part in response.headers["Content-Security-Policy"].split("; "))
    page = response.content.decode()
    for name in ("script", "style"):
        (text,) = re.findall(f"<{name}>(.*?)</{name}>", page, re.DOTALL)
        digest = b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert policy.pop(f"{name}-src") == f"'sha256-{digest}'"
    assert policy == {
        "default-src": "'none'",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }


async def test_the_page_loads_nothing_from_elsewhere(anyone: ApiClient) -> None:
    page = (await anyone.get("/api/docs-ui")).content.decode()
    assert re.findall(r"https?:|src=|@import|url\(|\sstyle=|\son\w+=", page) == []
    assert set(re.findall(r'href="([^"]*)"', page)) == {"openapi.json"}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        pytest.param("POST", "/api/docs-ui", 405, id="a wrong method"),
        pytest.param("GET", "/api/docs-ui/more", 404, id="a path below"),
    ],
)
async def test_its_errors_are_json(anyone: ApiClient, method: str, path: str, status: int) -> None:
    response = await anyone.request(method, path)
    assert_error(response, status)
    assert response.headers["Content-Type"] == "application/json"


@node_only
async def test_the_page_shows_every_route_with_its_permission_and_fields(tmp_path: Path) -> None:
    described = routes.description()
    shown = await rendered(described, tmp_path)
    operations = [
        f"{method.upper()} {path}"
        for path, methods in described["paths"].items()
        for method in methods
        if method != "parameters"
    ]
    assert sorted(shown) == sorted(operations)
    create = shown["POST /api/devices"]
    for text in ("devices.manage", "device_type", "required", "Answer 201", "192.0.2.10", "400, 401, 403"):
        assert text in create
    assert "Needs no token." in shown["POST /api/auth/login"]
    assert "limit (query)" in shown["GET /api/devices"]


@node_only
async def test_text_of_the_description_is_never_read_as_html(tmp_path: Path) -> None:
    described = routes.description()
    described["paths"]["/api/devices"]["get"]["summary"] = "<img src=x onerror=alert(1)>"
    shown = await rendered(described, tmp_path)
    assert "<img src=x onerror=alert(1)>" in shown["GET /api/devices"]
