"""Whoever is logged in at a node with the pages of accounts."""

import pytest

from tests.console.login.conftest import Open, visit, visitor
from tests.identity.auth.conftest import http, installation, node, start
from tests.support.visitor import Visitor

__all__ = ["Open", "http", "installation", "node", "start", "visit", "visitor"]


@pytest.fixture
async def admin(visitor: Visitor) -> Visitor:
    """At the account page."""
    await visitor.log_in(path="/login?next=/account")
    await visitor.get("/account")
    return visitor
