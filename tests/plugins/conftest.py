"""An installation for logins through directories, and a slapd with a certificate of ours."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.identity.auth.conftest import http, installation
from tests.support.programs import slapd
from tests.support.servers.certificates import Authority
from tests.support.temporary import LASTING

__all__ = ["http", "installation"]


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp(f"{LASTING}authority"), "trusted")


@pytest.fixture(scope="session")
async def directory(
    tmp_path_factory: pytest.TempPathFactory, authority: Authority
) -> AsyncIterator[slapd.Slapd]:
    """Start one slapd for the run; skip where OpenLDAP is not installed."""
    if slapd.PROGRAM is None or slapd.ADD is None:
        pytest.skip("slapd or ldapadd is not installed")
    certificate, key = authority.server("slapd")
    folder = tmp_path_factory.mktemp(f"{LASTING}slapd")
    async with slapd.running_slapd(folder, authority.file, certificate, key) as running:
        yield running


@pytest.fixture
def foreign(tmp_path: Path) -> Authority:
    """Return an authority that no client trusts."""
    return Authority(tmp_path, "foreign")
