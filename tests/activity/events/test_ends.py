"""A stream ends with the session, or the API token, that it was opened with, wherever that ends."""

from pathlib import Path

from netautod.activity.events.service import EventService
from netautod.assembly.activity import build_events
from netautod.identity.users.passwords.hashing import PasswordHasher
from netautod.store.client import Database
from tests.identity.auth.support import Node, serve_node, start_node
from tests.support.clock import MovableClock
from tests.support.installation import bare_base, open_installation
from tests.support.listening import listening
from tests.support.serving import Servers


def streams_of(node: Node) -> EventService:
    base = bare_base(node.installation.database, stores=node.installation.stores)
    return build_events(base, node.logins.token_states).streams


async def test_a_logout_and_a_revocation_at_another_node(
    indexed: Database, hasher: PasswordHasher, servers: Servers, tmp_path: Path
) -> None:
    made = await open_installation(indexed, tmp_path, clock=MovableClock(), hasher=hasher)
    installation = await made.started(tmp_path)
    first, second = await start_node(installation), await start_node(installation)
    api = serve_node(servers, first).with_token((await first.log_in()).access_token)
    other = api.with_token((await first.log_in()).access_token)
    token = (await api.post("/api/auth/tokens", {"name": "ci", "permissions": []})).expect(201)
    async with streams_of(second) as streams:
        url = servers.listen([streams], authenticate=second.authenticator.authenticate).base_url
        async with (
            listening(url, api.token) as session,
            listening(url, token["token"]) as machine,
            listening(url, other.token) as kept,
        ):
            assert (await api.delete(f"/api/auth/tokens/{token['id']}")).status == 204
            assert [each.data for each in await machine.until_end()] == [{"reason": "token"}]
            assert (await api.post("/api/auth/logout")).status == 200
            assert [each.data for each in await session.until_end()] == [{"reason": "token"}]
            assert kept.received == []
            assert streams.listening == 1
