"""An installation with nodes on real ports, and a slapd, for attackers who are clients."""

from tests.identity.auth.conftest import http, installation
from tests.plugins.conftest import authority, directory
from tests.plugins.ldap.conftest import searching

__all__ = ["authority", "directory", "http", "installation", "searching"]
