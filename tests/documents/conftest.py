"""A library for each test, with rendering children that all of them share."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from netautod.documents.rendering.pool import RenderPool
from netautod.store.client import Database
from tests.documents.library import Library, Node
from tests.support.serving import Serve


@pytest.fixture(scope="session")
async def renderer() -> AsyncIterator[RenderPool]:
    async with RenderPool(processes=2) as pool:
        yield pool


@pytest.fixture
async def library(indexed: Database, serve: Serve, tmp_path: Path, renderer: RenderPool) -> Library:
    return Library(database=indexed, data_dir=tmp_path, serve=serve, renderer=renderer)


@pytest.fixture
async def node(library: Library) -> Node:
    return await library.node()
