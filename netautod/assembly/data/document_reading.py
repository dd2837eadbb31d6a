"""The migration to permissions for reading documents: every role and API token of before may read them.

Notes were read by everybody, too; of those only roles and tokens that name `docs.manage` keep them. What this
version writes carries a mark, so that a role that was made without `docs.read` stays without it.
"""

from netautod.automation.executions.store import COLLECTION as EXECUTIONS
from netautod.automation.tasks.store import COLLECTION as TASKS
from netautod.core.work.guard import Guard
from netautod.documents.access import MANAGE, READ, READ_NOTES
from netautod.identity.auth.tokens.store import API_TOKENS
from netautod.identity.users.models import KNOWS_READING
from netautod.identity.users.roles.store import ROLES
from netautod.store.client import Database
from netautod.store.migrations.model import in_pages

WIDER = ("*", "docs.*")
UNFINISHED = ("pending", "running", "approval_pending")
# What a role or token holds, and what it is given: as expressions of the database.
_HELD = {"$ifNull": ["$permissions", []]}
_DOCUMENTS = {"$cond": [{"$eq": [{"$setIntersection": [_HELD, [*WIDER, READ]]}, []]}, [READ], []]}
_NOTES = {"$cond": [{"$in": [MANAGE, _HELD]}, {"$setDifference": [[READ_NOTES], _HELD]}, []]}


async def grant_reading(database: Database, guard: Guard) -> None:
    """Grant reading to all roles and tokens, and to work that a token has begun or left for later."""
    await grant_reading_to_latest(database, guard)
    lacking = {"scope": {"$type": "array", "$nin": [*WIDER, MANAGE, READ]}}
    change = {"$push": {"scope": READ}}
    await in_pages(database.collection(TASKS), lacking, change, guard=guard)
    unfinished = {**lacking, "state": {"$in": UNFINISHED}}
    await in_pages(database.collection(EXECUTIONS), unfinished, change, guard=guard)


async def grant_reading_to_latest(database: Database, guard: Guard) -> None:
    """Grant reading to the roles and tokens without the mark: also those that an earlier node has written."""
    permissions = {"$concatArrays": [_HELD, _DOCUMENTS, _NOTES]}
    change = [{"$set": {"permissions": permissions, KNOWS_READING: True}}]
    for collection in (ROLES, API_TOKENS):
        await in_pages(database.collection(collection), {KNOWS_READING: None}, change, guard=guard)
