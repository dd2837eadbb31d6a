"""What schemathesis makes up from the description is answered as described: no 500, no status without a name.

CI runs a bounded number of examples with a fixed seed. A longer look, with every bound of every field:

    SCHEMATHESIS_PHASES=examples,coverage,fuzzing SCHEMATHESIS_EXAMPLES=200 SCHEMATHESIS_SEED=7 \\
    SCHEMATHESIS_SECONDS=3600 pytest -n 0 -m slow tests/fuzzing
"""

import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from netautod.assembly.routes import description
from tests.e2e.console import Console
from tests.fuzzing.world import populated
from tests.support.programs.service import Service, run, serving
from tests.support.programs.started import ROOT

PHASES = os.environ.get("SCHEMATHESIS_PHASES", "examples,fuzzing")
EXAMPLES = os.environ.get("SCHEMATHESIS_EXAMPLES", "5")
SEED = os.environ.get("SCHEMATHESIS_SEED", "20261125")
LONGEST_SECONDS = int(os.environ.get("SCHEMATHESIS_SECONDS", "300"))
pytestmark = [pytest.mark.slow, pytest.mark.timeout(LONGEST_SECONDS + 120)]
# One client asks as fast as it can, and many of its requests have no token.
VARIABLES = {
    "NETAUTOD_LIMITS_REQUESTS_PER_SECOND": "0",
    "NETAUTOD_LIMITS_ANONYMOUS_PER_SECOND": "0",
    "NETAUTOD_AUTH_LOCKOUT_FAILURES": "1000000",
}
# Operations that are not asked, and why.
LEFT_OUT = {
    "logout": "ends the session that asks",
    "change_password": "guesses count against the account that asks",
    "begin_otp": "the same",
    "delete_otp": "the same",
    "revoke_certificates": "of the user that asks: nothing to see, and its counterpart is tested with sshd",
    "pause_system": "nothing would run any more",
    "set_vault_password": "documents would stay locked behind a password that nobody knows",
    "change_vault_password": "the same",
    "lock_vault": "the same",
    "get_events": "a stream has no end",
    "create_webhook": "posts to made-up addresses, which may be somebody's",
    "update_webhook": "the same",
    "test_webhook": "the same",
    "sync_inventory": "asks servers of made-up addresses, which may be somebody's",
    "test_inventory": "the same",
    "sync_inventory_source": "the same",
    "test_inventory_source": "the same",
}
CONFIGURATION = """
# Of the checks those that are not made, and why; all others are.
[checks]
# Ours takes its place, which knows reasons (hooks.py: refused_by_surprise).
positive_data_acceptance.enabled = false
# They follow what was made and deleted, in a phase that is not run.
use_after_free.enabled = false
ensure_resource_availability.enabled = false
object_level_authorization.enabled = false

# Rows that are wrong are listed in the answer; the others are taken.
[[operations]]
include-operation-id = "import_devices_json"
checks.negative_data_rejection.enabled = false
"""


@dataclass(frozen=True, kw_only=True)
class World:
    service: Service
    console: Console
    ids: Path


@pytest.fixture(scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    folder = tmp_path_factory.mktemp("fuzzing")
    async with serving(folder / "data", variables=VARIABLES) as service:
        console = Console(client=await service.client())
        async with populated(console) as ids:
            file = folder / "ids.json"
            file.write_text(json.dumps(ids))
            yield World(service=service, console=console, ids=file)


def test_what_is_left_out_exists() -> None:
    text = json.dumps(description())
    assert [name for name in LEFT_OUT if f'"operationId": "{name}"' not in text] == []


async def test_the_service_answers_as_it_is_described(world: World, tmp_path: Path) -> None:
    (tmp_path / "schemathesis.toml").write_text(CONFIGURATION)
    found = await run(
        *options(world),
        command=(sys.executable, "-m", "schemathesis.cli.__main__"),
        variables={
            "SCHEMATHESIS_HOOKS": "tests.fuzzing.hooks",
            "KNOWN_IDS": str(world.ids),
            "PYTHONPATH": str(ROOT),
        },
        cwd=tmp_path,
        seconds=LONGEST_SECONDS,
    )
    assert found.code == 0, found.out + found.err[-4000:]
    assert "Traceback" not in world.service.log.read_text()


def options(world: World) -> Iterator[str]:
    yield from ("run", f"{world.service.url}/api/openapi.json", "--no-color", "--warnings", "off")
    yield from ("--header", f"Authorization: Bearer {world.console.client.token}")
    yield from ("--phases", PHASES)
    yield from ("--seed", SEED, "--max-examples", EXAMPLES, "--generation-database", "none")
    yield from ("--continue-on-failure", "--suppress-health-check", "all", "--request-timeout", "30")
    # A NUL is refused everywhere; a token is made up by the check ignored_auth alone.
    yield from ("--generation-allow-x00", "false", "--generation-with-security-parameters", "false")
    for name in LEFT_OUT:
        yield from ("--exclude-operation-id", name)
