"""Nodes of an installation with the pages of logins and accounts."""

from collections.abc import Callable

import pytest

from tests.identity.auth.conftest import http, installation, node, start
from tests.identity.auth.support import Node, ServeNode
from tests.support.visitor import Visitor

__all__ = ["http", "installation", "node", "start"]
Open = Callable[..., Visitor]


@pytest.fixture
def visit(http: ServeNode) -> Open:
    """`visitor = visit(node)`: a new browser at a node, which is served anew."""

    def opened(node: Node, **headers: str) -> Visitor:
        return Visitor(base_url=http(node).base_url, headers=headers)

    return opened


@pytest.fixture
async def visitor(node: Node, visit: Open) -> Visitor:
    return visit(node)
