"""The bounds that the requests of a node share: bytes of bodies, and long answers under way."""

from netautod.http.bodies.fair_share import FairShare


def test_the_largest_of_the_owner_who_holds_most_gives_way() -> None:
    shares, gone = FairShare(10), []
    mine = shares.enter("me", lambda: gone.append("mine"))
    small = shares.enter("crowd", lambda: gone.append("small"))
    large = shares.enter("crowd", lambda: gone.append("large"))
    mine.grow(4)
    small.grow(2)
    large.grow(4)
    assert (gone, shares.total) == ([], 10)
    small.grow(1)
    assert (gone, shares.total) == (["large"], 7)


def test_of_equal_ones_the_oldest_gives_way() -> None:
    shares, gone = FairShare(2), []
    for number in range(4):
        shares.enter("me", lambda number=number: gone.append(number)).grow(1)  # type: ignore[misc]
    assert (gone, shares.total) == ([0, 1], 2)


def test_what_is_settled_stays_and_a_newcomer_gives_way_itself() -> None:
    shares, gone = FairShare(10), []
    old = shares.enter("crowd", lambda: gone.append("old"))
    old.grow(10)
    old.settle()
    new = shares.enter("me", lambda: gone.append("new"))
    new.grow(1)
    assert (gone, shares.total) == (["new"], 10)
    old.leave()
    shares.enter("me", lambda: gone.append("newer")).grow(9)
    assert (gone, shares.total) == (["new"], 9)


def test_what_has_left_is_not_counted_twice() -> None:
    shares = FairShare(10)
    share = shares.enter("me", lambda: None)
    share.grow(3)
    share.leave()
    share.leave()
    share.grow(3)
    share.settle()
    assert shares.total == 0


def test_what_is_settled_may_grow_where_none_can_give_way() -> None:
    shares, gone = FairShare(10), []
    settled = shares.enter("me", lambda: gone.append("me"))
    settled.settle()
    settled.grow(11)
    assert (gone, shares.total) == ([], 11)
