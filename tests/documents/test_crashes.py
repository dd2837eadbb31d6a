"""The state that a node leaves if it dies in the middle of a write, a deletion or a change of category."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from netautod.documents.editing import Resealing
from netautod.documents.store import DocumentStore
from netautod.documents.version_store import VersionStore
from tests.documents.library import NOTE, TEXT, Library, Node
from tests.support.clock import MovableClock

pytestmark = pytest.mark.slow

WRITER = Path(__file__).with_name("endless_writer.py")
KILLS = 4
WRITES_BEFORE_KILL = 7


class Died(BaseException):
    """Raised as the end of the process: no code of ours catches it."""


@pytest.fixture
def dying(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function: `dying(Store, "method")` ends the process at that call; `after` it instead of
    before.
    """

    def arm(kind: type[Any], name: str, *, after: bool = False) -> None:
        real = getattr(kind, name)

        async def die(*args: Any, **options: Any) -> Any:
            if after:
                await real(*args, **options)
            raise Died

        monkeypatch.setattr(kind, name, die)

    return arm


POINTS = [
    pytest.param(VersionStore, "add", False, ["first"], id="before the version"),
    pytest.param(VersionStore, "add", True, ["first"], id="after the version, before the write"),
    pytest.param(DocumentStore, "swap", True, ["second", "first"], id="after the write, before the audit"),
]


@pytest.mark.parametrize("fields", [pytest.param(TEXT, id="plain"), pytest.param(NOTE, id="a note")])
@pytest.mark.parametrize(("kind", "name", "after", "replaced"), POINTS)
async def test_a_write_that_dies_loses_nothing(
    library: Library,
    node: Node,
    dying: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    fields: dict[str, Any],
    kind: type[Any],
    name: str,
    after: bool,
    replaced: list[str],
) -> None:
    made = await node.create(fields)
    with monkeypatch.context():
        dying(kind, name, after=after)
        with pytest.raises(Died):
            await node.documents.update(node.caller, made["id"], {"content": "second"})
    monkeypatch.undo()
    restarted = await library.node(org_id=node.org_id)
    live = (await restarted.get(made))["content"]
    left = await restarted.contents(made)
    assert live == replaced[0]
    # At worst one extra version that equals what is live.
    assert left in ([], ["first"])
    await restarted.put(made, content="third")
    assert await restarted.contents(made) == replaced
    assert (await restarted.get(made))["content"] == "third"


async def test_a_process_that_is_killed_while_it_writes_loses_nothing(
    library: Library, node: Node, mongo_uri: str, repository_root: Path
) -> None:
    made = await node.create(content="0")
    acknowledged = 0
    for _ in range(KILLS):
        live = int((await node.get(made))["content"])
        arguments = (mongo_uri, library.database.name, str(library.data_dir), node.org_id, made["id"])
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(WRITER), *arguments, str(live + 1)),
            stdout=PIPE,
            env={"PYTHONPATH": str(repository_root)},
        )
        assert process.stdout is not None
        for _ in range(WRITES_BEFORE_KILL):
            acknowledged = int(await process.stdout.readline())
        process.kill()
        await process.wait()
        rest = (await process.stdout.read()).split()
        acknowledged = int(rest[-1]) if rest else acknowledged
        live = int((await node.get(made))["content"])
        assert live in (acknowledged, acknowledged + 1)
        contents = [int(text) for text in await node.contents(made)]
        complete = list(range(live - 1, -1, -1))
        assert contents in (complete, [live, *complete])


@pytest.mark.parametrize(
    ("kind", "name", "after"),
    [
        pytest.param(DocumentStore, "mark_deleted", True, id="after the document is gone"),
        pytest.param(VersionStore, "remove_all", True, id="after its versions are gone"),
    ],
)
async def test_a_deletion_that_dies_is_finished(
    library: Library,
    dying: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    kind: type[Any],
    name: str,
    after: bool,
) -> None:
    clock = MovableClock()
    node = await library.node(clock=clock)
    made = await node.create()
    await node.put(made, content="second")
    (version,) = await node.versions(made)
    dying(kind, name, after=after)
    with pytest.raises(Died):
        await node.documents.delete(node.caller, made["id"])
    monkeypatch.undo()
    assert (await node.api.get(f"/api/docs/{made['id']}")).status == 404
    assert (await node.version(version)).status == 404
    assert (await node.api.get("/api/docs")).json == []
    await node.upkeep.run()
    assert await library.versions_of(made) == 0
    clock.move(3600)
    await node.upkeep.run()
    assert await library.database.collection("documents").count({}) == 0


async def test_a_version_that_comes_after_the_deletion_is_swept(
    library: Library, dying: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check a write on another node that was overtaken by the deletion, and then died."""
    node = await library.node()
    made = await node.create()
    real = VersionStore.add

    async def overtaken(*args: Any) -> Any:
        await node.documents.delete(node.caller, made["id"])
        await real(*args)
        raise Died

    monkeypatch.setattr(VersionStore, "add", overtaken)
    with pytest.raises(Died):
        await node.documents.update(node.caller, made["id"], {"content": "second"})
    monkeypatch.undo()
    assert await library.versions_of(made) == 1
    await node.upkeep.run()
    assert await library.versions_of(made) == 0


@pytest.mark.parametrize("locked_meanwhile", [False, True])
async def test_a_change_of_category_that_dies_is_finished(
    library: Library,
    node: Node,
    dying: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    locked_meanwhile: bool,
) -> None:
    made = await node.create(content="secret one")
    await node.put(made, content="secret two")
    dying(Resealing, "run")
    with pytest.raises(Died):
        await node.documents.update(node.caller, made["id"], {"category": "notes"})
    monkeypatch.undo()
    assert b"secret" in await library.dump()
    restarted = await library.node(org_id=node.org_id)
    if locked_meanwhile:
        await restarted.notes.set_password(node.caller, "a long passphrase")
        await restarted.notes.lock(node.caller)
        await restarted.upkeep.run()
        assert b"secret" in await library.dump()
        await restarted.notes.unlock(node.caller, "a long passphrase")
    await restarted.upkeep.run()
    assert b"secret" not in await library.dump()
    assert await restarted.contents(made) == ["secret two", "secret one"]
