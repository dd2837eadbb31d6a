"""The console for tests without a real browser: one service a module."""

from collections.abc import AsyncIterator

import pytest

from netautod.store.client import Database
from tests.console.site import Site, open_site


@pytest.fixture(scope="module")
async def site(
    fresh_module_database: Database, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Site]:
    async with open_site(fresh_module_database, tmp_path_factory.mktemp("site")) as made:
        yield made
