"""One browser and one service for all tests of a process; pages that are watched for each test."""

from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from playwright.async_api import Browser, StorageState

from netautod.store.settings import MongoDBSettings
from tests.browser.crawling import Crawls
from tests.browser.people import People
from tests.browser.rules import headers_of_the_console
from tests.browser.watching import Browsing, a_browser, browsing_of
from tests.browser.world import World, a_world
from tests.support.databases import DatabasePool


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    async with a_browser() as running:
        yield running


@pytest.fixture(scope="session")
async def world(mongo_uri: str, databases: DatabasePool) -> AsyncIterator[World]:
    database = databases.fresh()
    settings = MongoDBSettings(uri=mongo_uri, database=database.name)
    with TemporaryDirectory(prefix="netautod-console-") as folder:
        async with a_world(Path(folder), settings) as made:
            yield made
    await databases.give_back(database)


@pytest.fixture(scope="session")
def logins() -> dict[str, StorageState]:
    """The cookies of those who have logged in, by name: each logs in once."""
    return {}


@pytest.fixture(scope="session")
def crawls() -> Crawls:
    return Crawls()


@pytest.fixture
async def browsing(browser: Browser, world: World) -> AsyncIterator[Browsing]:
    async with browsing_of(browser, world.url, [headers_of_the_console]) as made:
        yield made


@pytest.fixture
def people(browsing: Browsing, logins: dict[str, StorageState]) -> People:
    """`page = await people.page("olga")`: a window in which she is logged in."""
    return People(browsing=browsing, logins=logins)
