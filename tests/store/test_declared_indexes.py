"""What the declared indexes make the database do: refuse a second one, and drop what has expired."""

from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from pymongo import MongoClient
from pymongo.errors import DuplicateKeyError

from netautod.core.clock import SystemClock
from netautod.store.client import Database

NOW = SystemClock().now()
ids = count()
Document = dict[str, Any]


@pytest.fixture
def raw(indexed: Database, mongo_uri: str) -> Any:
    client: MongoClient[Document] = MongoClient(mongo_uri)
    with client:
        yield client[indexed.name]


@pytest.mark.parametrize(
    ("collection", "fields", "also"),
    [
        pytest.param("api_tokens", ["hash"], {}, id="a token of the API"),
        pytest.param("sessions", ["cookie_hash"], {}, id="a cookie of the console"),
        pytest.param("signing_keys", ["generation"], {}, id="a generation of signing keys"),
        pytest.param("audit_events", ["org_id", "seq"], {}, id="a place in the audit chain"),
        pytest.param("credentials", ["org_id", "name"], {}, id="a credential's name"),
        pytest.param("roles", ["org_id", "name"], {}, id="a role's name"),
        pytest.param("tasks", ["org_id", "name"], {}, id="a task's name"),
        pytest.param("organizations", ["name"], {}, id="an organization's name"),
        pytest.param("users", ["username"], {}, id="a user's name"),
        pytest.param("users", ["auth_provider", "external_id"], {}, id="an entry of a directory"),
        pytest.param("ssh_certificates", ["org_id", "serial"], {}, id="a serial number of certificates"),
        pytest.param("execution_log", ["execution_id", "seq"], {}, id="a line of a log"),
        pytest.param("executions", ["task_id"], {"state": "running"}, id="a running execution of a task"),
        pytest.param("executions", ["task_id"], {"holds_task": True}, id="an execution that holds its task"),
        pytest.param(
            "executions", ["task_id", "scheduled_for", "clock_step"], {}, id="an execution of a tick"
        ),
        pytest.param("devices", ["org_id", "name"], {"live": True}, id="a device's name"),
        pytest.param("sites", ["org_id", "name"], {}, id="a site's name"),
        pytest.param("inventory_sources", ["org_id", "name"], {}, id="a source's name"),
    ],
)
def test_there_is_one_of(raw: Any, collection: str, fields: list[str], also: Document) -> None:
    def insert(**other: Any) -> None:
        number = next(ids)
        unlike = {"username": f"u{number}", "hash": f"h{number}", "state": f"s{number}", "name": f"n{number}"}
        same = {field: NOW if field == "scheduled_for" else "same" for field in fields}
        raw[collection].insert_one({"_id": f"i{number}", **unlike, **also, **same, **other})

    insert()
    with pytest.raises(DuplicateKeyError):
        insert()
    for field in fields:
        insert(**{field: NOW + timedelta(1) if field == "scheduled_for" else "another"})


@pytest.mark.parametrize(
    ("collection", "document"),
    [
        pytest.param("executions", {"task_id": "t", "state": "pending"}, id="waiting runs of a task"),
        pytest.param("executions", {"task_id": "t", "scheduled_for": None}, id="runs by hand of a task"),
        pytest.param("executions", {"task_id": "t", "holds_task": False}, id="runs that hold no task"),
        pytest.param("users", {"auth_provider": "local", "external_id": None}, id="local users"),
        pytest.param("audit_events", {"org_id": "o"}, id="events that are not chained yet"),
        pytest.param("devices", {"org_id": "o", "name": "n", "live": False}, id="removed devices of a name"),
    ],
)
def test_there_may_be_many_of(raw: Any, collection: str, document: Document) -> None:
    for _ in range(2):
        number = next(ids)
        state = {"state": f"s{number}"} if collection == "executions" else {}
        raw[collection].insert_one({"_id": f"i{number}", "username": f"u{number}", **state, **document})


DAY = 86400
EXPIRING = [
    ("api_tokens", "expires_at", 30 * DAY),
    ("sessions", "expires_at", 0),
    ("refresh_tokens", "expires_at", 0),
    ("directory_lookups", "expires_at", 0),
    ("login_failures", "expires_at", 0),
    ("events", "at", 360),
    ("idempotency_keys", "expires_at", 0),
    ("known_addresses", "expires_at", 0),
    ("redirect_logins", "expires_at", 0),
    ("console_logins", "expires_at", 0),
    ("suspended_logins", "forget_at", 0),
    ("caller_suspensions", "forget_at", 0),
    ("nodes", "heartbeat_at", 60),
    ("ssh_certificates", "valid_before", 3600),
]


def test_what_expires_and_when(raw: Any) -> None:
    """By the database's own list: its monitor drops them, once a minute."""
    found = [
        (collection, field, index["expireAfterSeconds"])
        for collection in raw.list_collection_names()
        for index in raw[collection].index_information().values()
        for field, _ in index["key"]
        if "expireAfterSeconds" in index
    ]
    assert sorted(found) == sorted(EXPIRING)
