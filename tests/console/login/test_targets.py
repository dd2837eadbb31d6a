"""Where a login leads to: the page that was wanted, and nothing else that somebody may have put there."""

from urllib.parse import urlencode

import pytest

from netautod.identity.auth.pages.targets import login_page, page_to
from tests.console.login.targets import HOSTILE, PAGES
from tests.support.visitor import Visitor


@pytest.mark.parametrize("page", PAGES)
def test_a_page(page: str) -> None:
    assert page_to(page) == page


@pytest.mark.parametrize("wish", HOSTILE)
def test_anything_else_leads_to_the_start_page(wish: str) -> None:
    assert page_to(wish) == "/"
    assert login_page(wish) == "/login"


def test_no_wish_leads_there_either() -> None:
    assert page_to(None) == "/"
    assert login_page("/devices?q=a&b=c", "failed") == "/login?next=%2Fdevices%3Fq%3Da%26b%3Dc&failed=failed"


async def test_the_wish_in_the_address_and_in_the_form(visitor: Visitor) -> None:
    """What the pages make of each, as it comes from the network."""
    wishes = [str(one.values[0]) for one in HOSTILE]
    for wish in wishes:
        await visitor.get(f"/login?{urlencode({'next': wish})}")
        assert visitor.hidden("next") == "/", wish
        assert "evil" not in visitor.page.html, wish
    for raw in ("%ff", "/%ff", "%c0%af%c0%afevil.example", "/devices&next=//evil.example", "%00"):
        await visitor.get(f"/login?next={raw}")
        assert visitor.hidden("next") == "/", raw
    for page in PAGES:
        await visitor.get(f"/login?{urlencode({'next': page})}")
        assert visitor.hidden("next") == page
    for wish in ("//evil.example", "/\\evil.example", "/devices\r\nX: y"):
        await visitor.get("/login")
        fields = {"username": "admin", "password": "correct horse battery staple", "next": wish}
        answer = await visitor.post("/login", fields)
        assert answer.headers.get_list("Location") == ["/"]
        assert "X" not in answer.headers
