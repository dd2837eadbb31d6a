"""An installation after its first start, and a node of it beside the commands."""

from tests.identity.auth.conftest import installation, node, start

__all__ = ["installation", "node", "start"]
