"""The list of a user's sessions."""

from tests.identity.auth.support import INFO, Node


async def test_the_newest_comes_first_and_those_of_one_moment_by_their_ids(node: Node) -> None:
    callers = []
    for seconds in (1, 0, 0, 0, 1):
        node.clock.move(seconds)
        tokens = await node.log_in()
        callers.append(await node.authenticator.authenticate(tokens.access_token, INFO))
    ids = [str(caller.session_id) for caller in callers]
    user = await node.users.by_username("admin")
    assert user is not None
    listed = await node.logins.sessions.living(user)
    assert [one.id for one in listed] == [ids[4], *sorted(ids[:4])]
