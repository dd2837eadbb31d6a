"""Webhooks over the API: their rules, their secret, the test, and who may see them."""

import json
from typing import Any
from uuid import uuid4

import pytest

from netautod.activity.webhooks.names import OWN, TASK_BLOCKED, EventNames
from netautod.activity.webhooks.store import COLLECTION
from netautod.assembly.data.stores import SEALED_FIELDS
from netautod.core.errors import Conflict
from netautod.secrets.vault.rewrapping import rewrap
from netautod_webhook.settings import KNOWN
from tests.activity.webhooks.conftest import SECRET, Hooks
from tests.support.client import assert_error
from tests.support.programs.started import free_port
from tests.support.servers.webhook_receiver import WebhookReceiver

URL = "http://198.51.100.7/hook?key=canary-of-a-url"
BODY = {"name": "chat", "url": URL, "events": ["config_changed"]}


async def test_a_webhook_is_made_read_changed_and_deleted(hooks: Hooks) -> None:
    made = (await hooks.api.post("/api/webhooks", {**BODY, "secret": SECRET})).expect(201)
    assert made == {
        **BODY,
        "id": made["id"],
        "enabled": True,
        "disabled_reason": None,
        "has_secret": True,
        "created_at": made["created_at"],
        "updated_at": made["created_at"],
        "last_delivery_at": None,
        "last_status": None,
    }
    path = f"/api/webhooks/{made['id']}"
    assert (await hooks.api.get(path)).json == made
    # A client may send back what it has read.
    same = (await hooks.api.put(path, {**made, "events": ["backup_stale", "backup_stale"]})).expect()
    assert (same["events"], same["has_secret"]) == (["backup_stale"], True)
    assert (await hooks.api.put(path, {"secret": None, "enabled": False})).expect()["has_secret"] is False
    page = (await hooks.api.get("/api/webhooks?limit=1")).json
    assert ([one["id"] for one in page["webhooks"]], page["total"], page["limit"]) == ([made["id"]], 1, 1)
    assert (await hooks.api.delete(path)).status == 204
    assert_error(await hooks.api.get(path), 404, "Webhook not found")


async def test_a_request_that_is_repeated_after_a_crash_finds_what_it_has_made(hooks: Hooks) -> None:
    """Repeat an Idempotency-Key, which gives the id; another request with the same name is refused."""
    service, webhook_id = hooks.parts.service, str(uuid4())
    made = await service.create(hooks.caller, BODY, webhook_id=webhook_id)
    again = await service.create(hooks.caller, BODY, webhook_id=webhook_id)
    assert (again.id, again.created_at) == (webhook_id, made.created_at)
    for another in (None, str(uuid4())):
        with pytest.raises(Conflict, match="already exists"):
            await service.create(hooks.caller, BODY, webhook_id=another)
    assert (await hooks.api.get("/api/webhooks")).expect()["total"] == 1


@pytest.mark.parametrize(
    ("change", "text"),
    [
        pytest.param({"events": []}, "events: at least one", id="no events"),
        pytest.param({"events": ["config_changed", "x"]}, "events: 'x' is none of", id="an unknown event"),
        pytest.param({"events": ["test"]}, "events: 'test' is none of", id="the test cannot be chosen"),
        pytest.param({"events": [{"$ne": 1}]}, "events", id="an operator for an event"),
        pytest.param({"events": None}, "events", id="null for the events"),
        pytest.param({"name": ""}, "name", id="no name"),
        pytest.param({"url": "ftp://198.51.100.7/"}, "url: the url must begin", id="another scheme"),
        pytest.param({"url": "http://u:p@198.51.100.7/"}, "url: the url must not", id="a password"),
        pytest.param({"url": "http://169.254.169.254/"}, "url: 169.254.169.254 is", id="cloud metadata"),
        pytest.param({"url": "http://[::1]/"}, "outbound.allow", id="this machine"),
        pytest.param({"secret": "short"}, "secret: must have 16", id="a short secret"),
        pytest.param({"secret": 5}, "secret", id="a number for the secret"),
        pytest.param({"enabled": "yes"}, "enabled", id="a text for enabled"),
        pytest.param({"nonsense": 1}, "nonsense", id="an unknown field"),
    ],
)
async def test_what_is_refused_names_the_field(hooks: Hooks, change: dict[str, Any], text: str) -> None:
    assert_error(await hooks.api.post("/api/webhooks", {**BODY, **change}), 400, text)
    made = (await hooks.api.post("/api/webhooks", BODY)).expect(201)
    assert_error(await hooks.api.put(f"/api/webhooks/{made['id']}", change), 400, text)


async def test_names_are_unique_and_events_of_plugins_can_be_selected(hooks: Hooks) -> None:
    body = {**BODY, "events": ["weather.storm"]}
    assert (await hooks.api.post("/api/webhooks", body)).expect(201)["events"] == ["weather.storm"]
    assert_error(await hooks.api.post("/api/webhooks", BODY), 409, "already exists")
    other = (await hooks.api.post("/api/webhooks", {**BODY, "name": "other"})).expect(201)
    assert_error(await hooks.api.put(f"/api/webhooks/{other['id']}", {"name": "chat"}), 409, "exists")
    with pytest.raises(ValueError, match="PLUGIN"):
        EventNames(["config_changed"])


async def test_other_organizations_do_not_reach_them(hooks: Hooks) -> None:
    made = await hooks.hook(URL)
    others, _ = hooks.served.client("system.manage")
    reader, _ = hooks.served.client("devices.manage", org_id=hooks.org_id)
    path = f"/api/webhooks/{made['id']}"
    for client, status in ((others, 404), (reader, 403)):
        assert (await client.get(path)).status == status
        assert (await client.put(path, {"name": "mine"})).status == status
        assert (await client.post(f"{path}/test")).status == status
        assert (await client.get(f"{path}/deliveries")).status == status
        assert (await client.delete(path)).status == status
    assert (await others.get("/api/webhooks")).json["webhooks"] == []
    assert (await hooks.api.get("/api/webhooks/none")).status == 404


async def test_the_secret_is_sealed_and_goes_with_the_rotation(
    hooks: Hooks, receiver: WebhookReceiver, caplog: pytest.LogCaptureFixture
) -> None:
    made = await hooks.hook(f"{receiver.url}?key=canary-of-a-url")
    assert SECRET not in json.dumps(made)
    [row] = await hooks.database.collection(COLLECTION).find({})
    assert SECRET.encode() not in repr(row).encode()
    before = row["sealed_secret"]["key_version"]
    vault, org_id = hooks.installation.vault, hooks.org_id
    await vault.rotate_organization_key(org_id)
    await rewrap(vault, hooks.database, SEALED_FIELDS)
    [row] = await hooks.database.collection(COLLECTION).find({})
    assert row["sealed_secret"]["key_version"] == before + 1
    assert (await hooks.api.post(f"/api/webhooks/{made['id']}/test")).expect()["success"] is True
    [delivery] = receiver.received
    assert delivery.is_signed_with(SECRET)
    await hooks.api.put(f"/api/webhooks/{made['id']}", {"secret": f"another {SECRET}"})
    await hooks.api.delete(f"/api/webhooks/{made['id']}")
    audited = await hooks.database.collection("audit_events").find({"org_id": org_id}, sort=[("seq", 1)])
    assert [event["action"] for event in audited] == [
        *("webhook.create", "webhook.test", "webhook.update", "webhook.delete")
    ]
    for text in (repr(audited), caplog.text):
        assert SECRET not in text
        assert "canary-of-a-url" not in text


async def test_the_test_does_not_wait_longer_than_its_client(
    hooks: Hooks, receiver: WebhookReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netautod.activity.webhooks.service.ANSWER_SECONDS", 0.2)
    made = await hooks.hook(receiver.url, enabled=False)
    receiver.free.clear()
    refused = (await hooks.api.post(f"/api/webhooks/{made['id']}/test")).expect()
    receiver.free.set()
    assert (refused["success"], refused["error"]) == (False, "No complete answer within 0.2 seconds")


async def test_the_test_says_what_the_receiver_answers(hooks: Hooks, receiver: WebhookReceiver) -> None:
    made = await hooks.hook(receiver.url, enabled=False, secret=None)
    path = f"/api/webhooks/{made['id']}/test"
    receiver.answers = [(503, {}), (302, {"Location": "/elsewhere"})]
    refused = (await hooks.api.post(path)).expect()
    assert (refused["success"], refused["status"], refused["error"]) == (
        False,
        503,
        "the receiver answered 503",
    )
    redirected = (await hooks.api.post(path)).expect()
    assert (redirected["success"], redirected["status"]) == (False, None)
    assert "redirect" in redirected["error"]
    accepted = (await hooks.api.post(path)).expect()
    assert accepted == {
        "success": True,
        "status": 204,
        "error": None,
        "duration_ms": accepted["duration_ms"],
    }
    assert [delivery.path for delivery in receiver.received] == ["/hook"] * 3
    content = receiver.received[-1].content
    assert (content["event"], content["instance"]) == ("test", "lab")
    assert content["data"] == {"webhook_id": made["id"], "webhook_name": made["name"]}
    # Without a secret there is nothing to sign with.
    assert "X-Netautod-Signature" not in receiver.received[-1].headers
    await hooks.api.put(f"/api/webhooks/{made['id']}", {"url": f"http://127.0.0.1:{free_port()}/"})
    unreachable = (await hooks.api.post(path)).expect()
    assert (unreachable["success"], unreachable["status"]) == (False, None)
    assert unreachable["error"]


def test_both_kinds_of_webhooks_know_the_same_events() -> None:
    """Compare the names; the plugin posts what observers get, and these are not notified of blocked tasks."""
    assert set(KNOWN) == set(OWN) - {TASK_BLOCKED}
