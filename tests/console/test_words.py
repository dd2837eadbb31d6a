"""The words of the console: every code has words, and counts have the right noun."""

from typing import get_args

import pytest

from netautod.activity.webhooks.schemas import STATUSES as DELIVERY_STATES
from netautod.automation.executions.transitions import STATES
from netautod.console.base import words
from netautod.console.base.words import counted, in_words, option
from netautod.identity.users.models import LDAP, LOCAL, OIDC
from netautod.network.configs.backups.models import STALE, STATUSES
from netautod.network.configs.schemas import KINDS
from netautod.network.credentials.rules import TYPES
from netautod.network.discovery.polling.models import State
from tests.console.seeds import device, noted
from tests.console.site import Site

# A screen shows these codes as they are: they are words.
PLAIN = {
    "pending",
    "running",
    "completed",
    "failed",
    "cancelled",
    "queued",
    "waiting",
    "delivered",
    "expired",
}
TABLES = {
    "failure": (words.FAILURES, set(KINDS)),
    "backup": (words.BACKUPS, {*STATUSES, STALE}),
    "state": (words.STATES, {*STATES, *get_args(State), *DELIVERY_STATES} - PLAIN),
    "provider": (words.PROVIDERS, {LOCAL, LDAP, OIDC}),
    "credential": (words.CREDENTIALS, set(TYPES)),
}


@pytest.mark.parametrize("table", TABLES)
def test_every_code_has_words_of_its_own(table: str) -> None:
    texts, codes = TABLES[table]
    assert codes <= set(texts)
    assert len(set(texts.values())) == len(texts)
    assert not set(texts) & set(texts.values())


@pytest.mark.parametrize(
    ("code", "table", "shown"),
    [
        ("auth", "failure", "Login refused"),
        ("credential", "failure", "Credential missing"),
        ("never", "backup", "Never backed up"),
        ("approval_pending", "state", "waiting for approval"),
        ("completed", "state", "completed"),
        ("of_a_plugin", "failure", "of a plugin"),
        ("", "state", ""),
    ],
)
def test_a_code_becomes_words(code: str, table: str, shown: str) -> None:
    assert in_words(code, table) == shown


def test_a_choice_sends_the_code() -> None:
    assert option("auth", "failure") == ("auth", "Login refused")
    assert option("timeout", "state") == ("timeout", "Timed out")
    assert option("", "state") == ("", "")


@pytest.mark.parametrize(
    ("count", "nouns", "shown"),
    [
        (0, ("device",), "0 devices"),
        (1, ("device",), "1 device"),
        (2, ("device",), "2 devices"),
        (20_000, ("device",), "20,000 devices"),
        (1, ("address", "addresses"), "1 address"),
        (3, ("address", "addresses"), "3 addresses"),
    ],
)
def test_a_count_has_the_right_noun(count: int, nouns: tuple[str, ...], shown: str) -> None:
    assert counted(count, *nouns) == shown


async def test_pages_show_words_and_filter_by_codes(site: Site) -> None:
    await noted(site, await device(site, "locked-out"), kind="auth")
    page = await site.browser("devices.access").get("/devices?q=locked-out&status=failed")
    assert page.rows[0][5].startswith("Login refused")
    assert page.links["Login refused 1"].endswith("error_kind=auth")
    choices = {one.attributes.get("value"): one.text for one in page.all("option")}
    assert (choices["auth"], choices["never"]) == ("Login refused", "Never backed up")
