"""The pool of child processes; what its users share is tested with them too."""

import pytest

from netautod.core.loop.child_pool import ChildPool, PoolFullError
from netautod.core.loop.child_process import ChildKind, ChildLostError

BODY_READER = "netautod.http.bodies.child"
SECONDS = 20.0


async def test_an_answer_that_no_honest_child_writes_costs_the_child() -> None:
    async with ChildPool(ChildKind(module=BODY_READER, name="a liar", max_answer=20)) as pool:
        done, _ = await pool.ask(b"1", seconds=SECONDS)
        assert done
        with pytest.raises(ChildLostError, match="not the answer of a liar"):
            await pool.ask(b"[1, 2, 3, 4, 5, 6, 7, 8]", seconds=SECONDS)
        assert not pool.children


async def test_a_pool_takes_no_more_requests_than_it_may_and_no_child_outlives_it() -> None:
    pool = ChildPool(ChildKind(module=BODY_READER, name="a reader"), max_pending=1)
    async with pool.turn() as turn:
        with pytest.raises(PoolFullError):
            await pool.ask(b"1", seconds=SECONDS)
        await turn.ask(b"1", seconds=SECONDS)
        await pool.close()
        assert not pool.children
    assert (await pool.ask(b"1", seconds=SECONDS))[0]
    await pool.close()
