"""The pages on architecture and terms are true to the code: layers, folders, walks and names."""

import re
import signal
from collections.abc import AsyncIterator
from configparser import ConfigParser
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from netautod.store.connection import connect
from netautod.store.embedded.mongod import find_running
from netautod.testing import SimulatedDevice
from tests.e2e.console import EXECUTIONS, TERMINAL, Console
from tests.support.execution import eventually
from tests.support.manual import blocks, page, section
from tests.support.programs.service import Service, serving

ROOT = Path(__file__).parents[2]
ARCHITECTURE, WALKS = page("develop/architecture.md"), page("develop/walks.md")
GLOSSARY = page("develop/glossary.md")
TICK = "From a tick to a stored version"
REQUEST = "From a request to its answer"
LOGIN = "From a login to a token"
SETTING = "From a setting in the file to its use"
PASSWORD = "From a password to a login by SSH"
FILES = {TICK: 30, REQUEST: 25, LOGIN: 18, SETTING: 8, PASSWORD: 22}  # at most, in a walk
IN_RESOURCES = {"handlers.py", "schemas.py", "service.py", "store.py", "models.py", "settings.py"}
MODULE = re.compile(r"`((?:plugins/)?[\w/]+(?:\.py|/))`")
# Named in the walks, but at work when the service starts, a request fails or a node dies.
ELSEWHERE = {
    "netautod/assembly/routes.py",
    "netautod/automation/executions/running/node.py",
    "netautod/automation/executions/running/reaper.py",
    "netautod/http/errors.py",
    "netautod/http/routing/routes.py",
    "netautod/identity/auth/schemas.py",
}


def drawn() -> list[list[str]]:
    """Return the layers of the drawing from the top, each with the folders that stand in it."""
    lines = blocks(section(ARCHITECTURE, "Layers"), "text")[0].text.splitlines()
    names = [re.match(r" (\w[\w| ]*?)(?:   .*)?$", line) for line in lines]
    return [found[1].strip().split(" | ") for found in names if found is not None]


def path_of(name: str) -> Path:
    return ROOT / name if name.startswith("plugins/") else ROOT / "netautod" / name


def named(heading: str) -> set[str]:
    """Return the modules that a walk names, from the root of the repository."""
    names = set(MODULE.findall(section(WALKS, heading))) - IN_RESOURCES
    return {str(path_of(name).relative_to(ROOT)) for name in names}


def test_the_layers_of_the_drawing_are_those_of_import_linter() -> None:
    contracts = ConfigParser()
    contracts.read(ROOT / ".importlinter")
    lines = contracts["importlinter:contract:layers"]["layers"].split("\n")
    assert drawn() == [line.replace("netautod.", "").split(" | ") for line in lines if line]


def test_every_folder_is_in_the_drawing() -> None:
    folders = {path.parent.name for path in (ROOT / "netautod").glob("*/__init__.py")}
    assert {name for layer in drawn() for name in layer} == folders


def test_everything_at_the_root_is_a_folder() -> None:
    assert {path.name for path in (ROOT / "netautod").glob("*.py")} == {"__init__.py", "__main__.py"}


@pytest.mark.parametrize("text", [ARCHITECTURE, WALKS, GLOSSARY], ids=["architecture", "walks", "glossary"])
def test_every_module_that_a_page_names_exists(text: str) -> None:
    names = set(MODULE.findall(text)) - {"plugins/", "netautod/"}
    assert len(names) > 3
    assert sorted(name for name in names - IN_RESOURCES if not path_of(name).exists()) == []


def test_a_resource_has_the_modules_that_the_page_names() -> None:
    assert all((ROOT / "netautod" / "network" / "devices" / name).exists() for name in IN_RESOURCES)


def test_there_are_five_walks() -> None:
    assert re.findall(r"^## (.+)$", WALKS, re.MULTILINE) == list(FILES)


@pytest.mark.parametrize("heading", FILES)
def test_a_walk_is_short_and_its_steps_are_numbered(heading: str) -> None:
    steps = re.findall(r"^(\d+)\. ", section(WALKS, heading), re.MULTILINE)
    assert steps == [str(number + 1) for number in range(len(steps))]
    assert 5 < len(named(heading)) <= FILES[heading]


def test_the_glossary_is_in_order_and_speaks_the_language_of_the_code() -> None:
    terms = re.findall(r"^\* \*\*([\w -]+)\*\*: ", GLOSSARY, re.MULTILINE)
    assert len(terms) >= 30
    assert terms == sorted(set(terms))
    sources = [*(ROOT / "netautod").rglob("*.py"), *(ROOT / "plugins").rglob("*.py")]
    code = " ".join(path.read_text() for path in sources)
    words = " ".join(code.lower().split())
    assert [term for term in terms if re.search(rf"\b{term.replace('-', '.')}s?\b", words) is None] == []
    names = re.findall(r"`([A-Z]\w+)`", GLOSSARY)
    assert [name for name in names if re.search(rf"\bclass {name}\b|\b{name} = ", code) is None] == []


@dataclass(frozen=True, kw_only=True)
class Traced:
    """A running service that notes whose code runs (tracer/sitecustomize.py)."""

    service: Service
    noted: Path

    async def ran(self) -> set[str]:
        """Return the modules that ran since the last call, from the root of the repository."""
        self.noted.unlink(missing_ok=True)
        self.service.process.send_signal(signal.SIGUSR2)
        await eventually(self._is_written)
        files = [Path(line) for line in self.noted.read_text().splitlines()]
        return {str(path.relative_to(ROOT)) for path in files if path.is_relative_to(ROOT)}

    async def _is_written(self) -> bool:
        return self.noted.exists()

    async def make_due(self, task_id: str) -> None:
        """Make the task due now, rather than at its next tick."""
        uri = find_running(self.service.data_dir)
        assert uri is not None
        database = connect(uri, "netautod")
        try:
            tick = datetime.now(UTC).replace(second=0, microsecond=0)
            await database.collection("tasks").update({"_id": task_id}, {"$set": {"next_run_at": tick}})
        finally:
            database.close()


@dataclass(frozen=True, kw_only=True)
class LoggedIn(Traced):
    """A traced service with a client; `started` ran during its start, `login` during the first login."""

    console: Console
    started: set[str]
    login: set[str]


@pytest.fixture(scope="module")
async def traced(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LoggedIn]:
    folder = tmp_path_factory.mktemp("traced")
    noted = folder / "noted"
    variables = {"PYTHONPATH": str(Path(__file__).with_name("tracer")), "TRACED_TO": str(noted)}
    async with serving(folder / "data", variables=variables) as service:
        tracing = Traced(service=service, noted=noted)
        started = await tracing.ran()
        console = Console(client=await service.client())
        login = await tracing.ran()
        yield LoggedIn(service=service, noted=noted, console=console, started=started, login=login)


async def test_the_walk_of_a_tick(traced: LoggedIn) -> None:
    console = traced.console
    async with SimulatedDevice(hostname="core-1") as switch:
        credential = await console.credential("lab")
        device = await console.device("core-1", switch.port, default_credential_id=credential)
        task = await console.backup("every minute", "core-1", cron_expression="* * * * *")
        await traced.ran()
        await traced.make_due(task)
        assert await eventually(lambda: ended(console, task)) == ["completed"]
        assert await console.versions(device) == [1]
        ran: set[str] = set()

        async def complete() -> bool:
            """Look again: observers are notified after the end is stored, which is when it can be read."""
            ran.update(await traced.ran())
            return named(TICK) - ran <= ELSEWHERE

        with suppress(TimeoutError):
            await eventually(complete)
    assert sorted(named(TICK) - ran - ELSEWHERE) == []


async def ended(console: Console, task_id: str) -> list[str]:
    """Return the states of the task's executions once they are final."""
    states = [run["state"] for run in (await console.read(f"{EXECUTIONS}?task_id={task_id}"))["executions"]]
    return states if set(states) <= set(TERMINAL) else []


async def test_the_walk_of_a_request(traced: LoggedIn) -> None:
    for name in ("sw1", "sw2"):
        await traced.console.device(name, 22, site="lab")
    await traced.ran()
    assert (await traced.console.read("/api/devices?site=lab&limit=1"))["total"] == 2
    ran = await traced.ran()
    assert sorted(named(REQUEST) - ran - ELSEWHERE) == []


async def test_the_walk_of_a_login(traced: LoggedIn) -> None:
    assert sorted(named(LOGIN) - traced.login - ELSEWHERE) == []


async def test_the_walk_of_a_setting(traced: LoggedIn) -> None:
    assert sorted(named(SETTING) - traced.started) == []


async def test_the_walk_of_a_password(traced: LoggedIn) -> None:
    console = traced.console
    await traced.ran()
    async with SimulatedDevice(hostname="core-2") as switch:
        credential = await console.credential("other")
        device = await console.device("core-2", switch.port, default_credential_id=credential)
        tested = await console.client.post(f"/api/devices/{device}/test-credential", {})
    assert tested.json["success"] is True
    assert sorted(named(PASSWORD) - await traced.ran() - ELSEWHERE) == []
