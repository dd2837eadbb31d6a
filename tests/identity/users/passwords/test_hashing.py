"""Password hashing and the policy."""

import asyncio
import statistics
import time

import argon2
import pytest

from netautod.core.errors import InvalidInput, Unavailable
from netautod.identity.users.passwords.hashing import PasswordHasher, Verdict

RIGHT = "correct horse battery staple"


async def test_the_parameters_are_those_that_owasp_recommends(hasher: PasswordHasher) -> None:
    assert (await hasher.hash(RIGHT)).startswith("$argon2id$v=19$m=19456,t=2,p=1$")


async def test_a_right_password_verifies_and_equal_passwords_hash_differently(hasher: PasswordHasher) -> None:
    one, two = await hasher.hash(RIGHT), await hasher.hash(RIGHT)
    assert one != two
    assert await hasher.verify(one, RIGHT) == Verdict(ok=True, needs_rehash=False)


@pytest.mark.parametrize(
    "password",
    [
        pytest.param(RIGHT + " ", id="a trailing blank"),
        pytest.param(RIGHT.upper(), id="another case"),
        pytest.param(RIGHT[:-1], id="one character less"),
        pytest.param(RIGHT + "\x00", id="a NUL at the end"),
        pytest.param("", id="empty"),
        pytest.param("x" * 100_000, id="far too long"),
        pytest.param("\ud800" * 12, id="lone surrogates"),
    ],
)
async def test_a_wrong_password_does_not(hasher: PasswordHasher, password: str) -> None:
    assert await hasher.verify(await hasher.hash(RIGHT), password) == Verdict(ok=False)


async def test_the_whole_password_is_compared(hasher: PasswordHasher) -> None:
    hashed = await hasher.hash("x" * 255 + "a")
    assert (await hasher.verify(hashed, "x" * 255 + "a")).ok
    assert not (await hasher.verify(hashed, "x" * 255 + "b")).ok


async def test_one_password_typed_in_two_unicode_forms_is_one_password(hasher: PasswordHasher) -> None:
    hashed = await hasher.hash("Gr\u00fc\u00dfe aus K\u00f6ln \uff11")
    assert (await hasher.verify(hashed, "Gru\u0308\u00dfe aus Ko\u0308ln 1")).ok


async def test_an_older_hash_needs_a_new_one_only_if_the_password_is_right(hasher: PasswordHasher) -> None:
    older = argon2.PasswordHasher(time_cost=1, memory_cost=8192, parallelism=1).hash(RIGHT)
    assert await hasher.verify(older, RIGHT) == Verdict(ok=True, needs_rehash=True)
    assert await hasher.verify(older, "something else") == Verdict(ok=False)


@pytest.mark.parametrize("hashed", ["", "!", "$argon2id$v=19$m=1", "$2b$12$abc"])
async def test_a_broken_hash_is_never_ok(hasher: PasswordHasher, hashed: str) -> None:
    assert await hasher.verify(hashed, RIGHT) == Verdict(ok=False)


@pytest.mark.parametrize("password", [RIGHT, "", "-", "x" * 100_000])
async def test_no_password_verifies_without_a_hash(hasher: PasswordHasher, password: str) -> None:
    assert await hasher.verify(None, password) == Verdict(ok=False)


async def test_an_unknown_user_costs_the_same_as_a_known_one(hasher: PasswordHasher) -> None:
    hashed = await hasher.hash(RIGHT)

    async def seconds(target: str | None, password: str) -> float:
        start = time.process_time()  # of all threads: hashing has one of its own
        await hasher.verify(target, password)
        return time.process_time() - start

    known, unknown, long = [], [], []
    for _ in range(9):
        known.append(await seconds(hashed, "wrong password"))
        unknown.append(await seconds(None, "wrong password"))
        long.append(await seconds(hashed, "x" * 2000))
    base = statistics.median(known)
    assert 0.5 < statistics.median(unknown) / base < 2
    assert 0.5 < statistics.median(long) / base < 2


async def test_a_password_that_cannot_be_hashed_is_refused(hasher: PasswordHasher) -> None:
    for password in ("x" * 257, "\ud800" * 12):
        with pytest.raises(InvalidInput, match=r"^password: "):
            await hasher.hash(password)


async def test_the_queue_is_bounded_and_drains() -> None:
    async with PasswordHasher(threads=1, queue=3) as hasher:
        results = await asyncio.gather(
            *(hasher.verify(None, RIGHT) for _ in range(10)), return_exceptions=True
        )
        refused = [result for result in results if isinstance(result, Unavailable)]
        assert len(refused) == 6
        assert len([result for result in results if isinstance(result, Verdict)]) == 4
        assert not (await hasher.verify(None, RIGHT)).ok


async def test_callers_that_went_away_give_their_place_back() -> None:
    async with PasswordHasher(threads=1, queue=1) as hasher:
        for _ in range(3):
            task = asyncio.create_task(hasher.verify(None, RIGHT))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
    assert hasher._places._value == 2


async def test_closing_answers_those_that_wait_and_refuses_later_ones() -> None:
    hasher = PasswordHasher(threads=1)
    waiting = [asyncio.create_task(hasher.verify(None, RIGHT)) for _ in range(3)]
    await asyncio.sleep(0)
    await hasher.close()
    assert await asyncio.gather(*waiting) == [Verdict(ok=False)] * 3
    with pytest.raises(Unavailable, match="stopping"):
        await hasher.verify(None, RIGHT)


async def test_the_event_loop_goes_on_while_a_password_is_hashed(hasher: PasswordHasher) -> None:
    hashing = asyncio.create_task(hasher.hash(RIGHT))
    turns = 0
    while not hashing.done():
        turns += 1
        await asyncio.sleep(0)
    assert turns > 10
