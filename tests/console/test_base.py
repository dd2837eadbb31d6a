"""What all pages share: origins and tokens of forms, fields as values, static files, errors."""

import json
import re
from typing import Any

import pytest
from marshmallow import fields

from netautod.console.base.form_tokens import form_token, require_form_token
from netautod.console.base.forms import read_form
from netautod.console.base.static import StaticFiles
from netautod.core.errors import Forbidden, InvalidInput
from netautod.core.schema.bases import Boolean, Id, Integer, JsonObject, Name, Request, ShortList, Text
from tests.console.site import Site
from tests.support.fetching import fetch
from tests.support.pages import Browser

URLENCODED = "application/x-www-form-urlencoded"


class Body(Request):
    name = Name(required=True)
    port = Integer(allow_none=True)
    enabled = Boolean()
    tags = ShortList(Name())
    metadata = JsonObject()
    site_id = Id(allow_none=True)
    description = Text()
    options = fields.Nested(Request.from_dict({"depth": Integer(), "deep": Boolean()}))


def form_of(text: str, kind: str = URLENCODED) -> Any:
    return read_form(text.encode("latin-1"), kind)


@pytest.mark.parametrize(
    ("sent", "partial", "values"),
    [
        pytest.param("name=+core-1+", False, {"name": "core-1"}, id="a text is trimmed by its field"),
        pytest.param("name=a&port=22", False, {"name": "a", "port": 22}, id="a number"),
        pytest.param("name=a&port=", False, {"name": "a"}, id="an empty field is left out"),
        pytest.param("port=&description=", True, {"port": None, "description": None}, id="or cleared"),
        pytest.param("name=a&enabled=", False, {"name": "a", "enabled": False}, id="a box without a tick"),
        pytest.param("name=a&enabled=&enabled=on", False, {"name": "a", "enabled": True}, id="a tick"),
        pytest.param("name=a", True, {"name": "a"}, id="what is not on the page is absent"),
        pytest.param("name=a&tags=x&tags=y", False, {"name": "a", "tags": ["x", "y"]}, id="several"),
        pytest.param("name=a&tags=x%0D%0A%0D%0A+y", False, {"name": "a", "tags": ["x", "y"]}, id="lines"),
        pytest.param("tags=", True, {"tags": []}, id="no lines"),
        pytest.param('metadata={"a":[1]}', True, {"metadata": {"a": [1]}}, id="an object"),
        pytest.param(
            "options.depth=2&options.deep=", True, {"options": {"depth": 2, "deep": False}}, id="dots"
        ),
        pytest.param("description=a%0D%0Ab", True, {"description": "a\nb"}, id="line breaks"),
        pytest.param("name=%C3%A9&_xsrf=1&other=2", False, {"name": "é"}, id="fields of no schema"),
    ],
)
def test_a_form_becomes_the_body_of_the_api(sent: str, partial: bool, values: dict[str, Any]) -> None:
    assert form_of(sent).values(Body(), partial=partial) == values


@pytest.mark.parametrize(
    ("sent", "complaint"),
    [
        pytest.param("name=", "name: Missing data", id="required"),
        pytest.param("name=a&port=x", "port: Not a valid integer", id="no number"),
        pytest.param("name=a&port=1e3", "port: Not a valid integer", id="no whole number"),
        pytest.param("name=a&metadata={", "metadata: Not valid JSON: ", id="broken JSON"),
        pytest.param("name=a&metadata=[1]", "metadata: Not a JSON object", id="no object"),
        pytest.param('name=a&metadata={"a":NaN}', "metadata: Not valid JSON", id="no number of JSON"),
        pytest.param("name=a&site_id=7", "site_id: Not a UUID", id="no id"),
        pytest.param("name=a&options.depth=x", "options.depth: Not a valid integer", id="inside"),
    ],
)
def test_what_is_wrong_in_a_form_names_the_field(sent: str, complaint: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        form_of(sent).values(Body())
    assert complaint in caught.value.text


@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        pytest.param("name=%FF", URLENCODED, id="no UTF-8"),
        pytest.param("name=%00", URLENCODED, id="NUL"),
        pytest.param("x", "multipart/form-data; boundary=b", id="no parts"),
        pytest.param("x", "multipart/form-data", id="no boundary"),
    ],
)
def test_what_is_no_form_is_refused(sent: str, kind: str) -> None:
    with pytest.raises(InvalidInput):
        form_of(sent, kind)


def test_a_token_is_good_for_its_cookie_alone() -> None:
    token = form_token("mine")
    require_form_token(token, "mine")
    assert form_token("mine") != token  # what is compressed with it does not tell it
    for given, cookie in ((token, "theirs"), (token[:-2], "mine"), ("", "mine"), ("zz", "mine"), (token, "")):
        with pytest.raises(Forbidden):
            require_form_token(given, cookie)
    with pytest.raises(Forbidden):
        require_form_token(form_token(""), "")


def test_a_script_holds_those_that_it_imports() -> None:
    """So that a page needs one request for all of them; each keeps its own names."""

    def path(inner: str) -> str:
        outer = 'import {x as y} from "./b.js";\nconst own = 1;\ny();\n'
        files = StaticFiles({"a.js": outer, "b.js": f"const own = {inner};\nexport function x() {{}}\n"})
        [file] = files.by_path.values()
        assert file.content.decode() == (
            f"const of_b = (() => {{\nconst own = {inner};\nfunction x() {{}}\n\nreturn {{x}};\n}})();\n"
            "const of_a = (() => {\nconst {x: y} = of_b;\nconst own = 1;\ny();\n\nreturn {};\n})();\n"
        )
        return files.path("a.js")

    assert path("1") != path("2")


def test_no_import_or_export_is_left_in_a_script() -> None:
    for file in StaticFiles.read().by_path.values():
        assert file.name.endswith((".css", ".svg")) or not re.search(
            rb"(?m)^\s*(import|export)\b", file.content
        )


def test_our_scripts_and_styles_are_small() -> None:
    texts = {file.name: file.content for file in StaticFiles.read().by_path.values()}
    assert sum(len(content) for name, content in texts.items() if name.endswith(".js")) <= 25 * 1024
    assert not [
        name for name in texts if b"eval(" in texts[name] or re.search(rb"innerHTML\s*=[^=]", texts[name])
    ]


async def test_static_files_need_no_session_and_never_change(site: Site) -> None:
    stranger = Browser(base_url=site.base_url, cookie="", caller=site.admin)
    for path in StaticFiles.read().by_path:
        page = await stranger.get(f"/static/{path}", headers={"Accept-Encoding": "gzip"})
        assert page.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert "Set-Cookie" not in page.headers
    await stranger.get("/static/console.css", status=404)
    await stranger.get("/static/..%2Fsettings.py", status=404)


async def test_whoever_has_no_session_is_led_to_the_login_and_back(site: Site) -> None:
    stranger = Browser(base_url=site.base_url, cookie="", caller=site.admin)
    page = await stranger.get("/devices?q=a%26b", status=303)
    assert page.headers["Location"] == "/login?next=%2Fdevices%3Fq%3Da%2526b"
    page = await stranger.get("/devices", status=401, headers={"X-Live": "1"})
    assert "Location" not in page.headers
    token = {"Authorization": f"Bearer {site.browser('*').cookie}"}
    await stranger.get("/devices", status=303, headers=token)  # tokens are for the API


async def test_the_cookie_of_a_page_is_nothing_to_the_api(site: Site) -> None:
    cookie = {"Cookie": f"netautod={site.browser('*').cookie}"}
    answer = await fetch(f"{site.base_url}/api/devices", headers=cookie)
    assert answer.code == 401
    assert json.loads(answer.body) == {"error": "Authentication required"}


@pytest.mark.parametrize(
    ("path", "accept", "html"),
    [
        ("/nothing", "text/html,*/*", True),
        ("/devices/a/b/c", "text/html", True),
        ("/nothing", "*/*", False),
        ("/api/nothing", "text/html", False),
        ("/health/nothing", "text/html", False),
        ("/api", "text/html", False),
    ],
)
async def test_what_is_not_there_is_a_page_for_people_only(
    site: Site, path: str, accept: str, html: bool
) -> None:
    answer = await fetch(site.base_url + path, headers={"Accept": accept})
    assert answer.code == 404
    assert answer.headers["Content-Type"].startswith("text/html" if html else "application/json")
    if html:
        assert re.search(rf"<code>{answer.headers['X-Request-Id']}</code>", answer.body.decode())
