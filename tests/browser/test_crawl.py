"""Every link of the console is followed, by people of all rights: each leads somewhere, no byte is secret."""

import re
from uuid import uuid4

import pytest

from netautod.console.base.form_tokens import FIELD, form_token
from netautod.console.routes import PAGES
from netautod.core.identity.permissions import grants
from netautod.identity.users.models import BUILTIN_ROLES
from tests.browser.crawling import Crawls
from tests.browser.people import People
from tests.browser.visits import form_of
from tests.browser.world import ADMINISTRATOR, EMPTY, OPERATOR, VIEWER, World
from tests.support.pages import LoadedPage

# What each must come to; otherwise a crawl that ends at once would be a good one.
REACHED = {
    VIEWER: {"/devices", "/devices/:", "/configs/:", "/topology", "/documents/:", "/account"},
    OPERATOR: {"/tasks/:", "/tasks/new", "/executions/:", "/approvals", "/credentials/:"},
    ADMINISTRATOR: {"/users/:", "/roles/:", "/audit", "/nodes", "/plugins", "/webhooks/:"},
    EMPTY: {"/devices", "/users", "/audit"},
}


@pytest.mark.parametrize("who", REACHED)
async def test_every_link_leads_somewhere_and_no_byte_is_a_secret(
    people: People, world: World, crawls: Crawls, who: str
) -> None:
    crawl = await crawls.of(who, people)
    assert [str(met) for met in crawl.met if met.status not in (200, 302, 303)] == []
    told = [
        f"{secret} in {met}" for met in crawl.met for secret in world.hidden if secret.encode() in met.content
    ]
    assert told == []
    assert REACHED[who] - {form_of(met.path) for met in crawl.met} == set()


def posts() -> list[str]:
    return [route.path for route in PAGES if "POST" in route.operations()]


def concrete(path: str) -> str:
    return re.sub(r":\w+", lambda _: str(uuid4()), path)


FOREIGN = [
    pytest.param({"Origin": "http://evil.example"}, True, id="another origin"),
    pytest.param({"Origin": "null"}, True, id="an opaque origin"),
    pytest.param({"Origin": "https://{host}"}, True, id="another scheme"),
    pytest.param({"Origin": "http://{host}.evil.example"}, True, id="an origin that begins like ours"),
    pytest.param({"Sec-Fetch-Site": "cross-site"}, True, id="no origin, from another site"),
    pytest.param({"Sec-Fetch-Site": "same-site"}, True, id="no origin, from a neighbour"),
    pytest.param({"Origin": "http://{host}"}, False, id="our origin, no token"),
]


@pytest.mark.parametrize(("headers", "has_token"), FOREIGN)
async def test_no_form_is_taken_from_elsewhere(
    people: People, world: World, headers: dict[str, str], has_token: bool
) -> None:
    """Each route that takes a form, by the table of routes."""
    visitor = await people.visitor(ADMINISTRATOR)
    host = world.url.removeprefix("http://")
    sent = {name: value.format(host=host) for name, value in headers.items()}
    body = f"{FIELD}={form_token(visitor.cookie)}" if has_token else "name=x"
    assert len(posts()) > 10
    statuses = {path: (await visitor.fetch(concrete(path), headers=sent, body=body)).code for path in posts()}
    assert statuses == dict.fromkeys(posts(), 403)


async def test_a_form_of_ours_is_taken(people: People, world: World) -> None:
    visitor = await people.visitor(ADMINISTRATOR)
    body = f"{FIELD}={form_token(visitor.cookie)}&name="
    answer = await visitor.fetch("/tasks/new", headers={"Origin": world.url}, body=body)
    assert answer.code == 400, answer.body


async def test_a_viewer_is_refused_by_address_what_is_not_shown(people: People, world: World) -> None:
    """Every page and form whose permission a viewer lacks: an error page with the id of the request."""
    [held] = [role.permissions for role in BUILTIN_ROLES if role.name == "viewer"]
    visitor, wrong = await people.visitor(VIEWER), dict[str, int]()
    origin, token = {"Origin": world.url}, f"{FIELD}={form_token(visitor.cookie)}"
    refused = 0
    for route in PAGES:
        for method, operation in route.operations().items():
            if operation.permission is None or grants(held, operation.permission):
                continue
            answer = await visitor.fetch(
                concrete(route.path), headers=origin, body=token if method == "POST" else None
            )
            refused += 1
            if answer.code != 403 or answer.headers["X-Request-Id"] not in LoadedPage.of(answer).text:
                wrong[f"{method} {route.path}"] = answer.code
    assert wrong == {}
    assert refused > 20
