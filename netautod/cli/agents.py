"""The command `netautod agent verify`: whether the transcript of an agent's run is as it was written."""

import argparse
import asyncio

from netautod.assembly.configuration import Configuration
from netautod.assembly.settings import Settings
from netautod.automation.agents.models import problem_of
from netautod.cli.installation import opened
from netautod.cli.output import complain, say
from netautod.cli.parsing import Commands
from netautod.core.errors import InvalidInput, NotFound
from netautod.core.schema.bases import uuid_or_none
from netautod.core.text.plurals import counted


def add(commands: Commands) -> None:
    group = commands.group("agent", "look into the runs of agents")
    parser = group.add("verify", _verify, "look for events of a transcript that were changed or are missing")
    parser.add_argument("execution", metavar="EXECUTION", help="the id of the execution")


def _verify(parsed: argparse.Namespace, configuration: Configuration) -> int:
    """Exit code 1 if anything is wrong."""
    execution_id = uuid_or_none(parsed.execution)
    if execution_id is None:
        raise InvalidInput("EXECUTION is the id of an execution, in the form 8-4-4-4-12")
    events, problem = asyncio.run(_looked_into(configuration.settings, execution_id))
    if problem is not None:
        complain(f"execution {execution_id}: NOT whole: {problem}")
        return 1
    say(f"execution {execution_id}: whole; {counted(events, 'event')}")
    return 0


async def _looked_into(settings: Settings, execution_id: str) -> tuple[int, str | None]:
    async with opened(settings) as installation:
        for organization in await installation.people.organizations.all():
            execution = await installation.stores.executions.get(organization.id, execution_id)
            if execution is None:
                continue
            found = await installation.stores.agent_transcripts.read(organization.id, execution_id)
            return len(found), problem_of(execution_id, found) or cut_short(execution.output, len(found))
    raise NotFound("There is no such execution")


def cut_short(output: object, events: int) -> str | None:
    """Return a sentence if the answer of the run counts more events than there are: the end was cut off."""
    recorded = output.get("transcript_events") if isinstance(output, dict) else None
    return f"event {events + 1} is missing" if isinstance(recorded, int) and events < recorded else None
