"""An installation after its first start, and a node of it beside the commands."""

from tests.auth.conftest import clock, installation, node, start, vault

__all__ = ["clock", "installation", "node", "start", "vault"]
