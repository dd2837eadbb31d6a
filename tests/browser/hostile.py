"""What nobody should call a thing, and an organization in which everything is called so."""

import re
from dataclasses import dataclass, field
from typing import Any

from netautod.testing import SimulatedDevice, ios_config
from tests.browser.world import DEVICE_PASSWORD, ODD, World
from tests.e2e.console import Console
from tests.plugins.cli.outputs import IOS
from tests.support.execution import eventually

# Each ends with a word of its own, by which it is found again.
NAMES = {
    "script": '<script>alert("name")</script>n4script',
    "attribute": '"><img src=x onerror=alert(1)>n4attribute',
    "other quotes": "' autofocus onfocus='alert(1)' x='n4quotes",
    "event without quotes": "x onmouseover=alert(1) n4bare",
    "end of an element": "</textarea></title></style></script><svg/onload=alert(1)>n4end",
    "comment": "--><!--<b>n4comment",
    "entities": "&lt;b&gt; &amp;amp; &#60;i&#62; n4entities",
    "template": "{{ 7 * 7 }} {% include 'x' %} ${7*7} #{7*7} <%= 7*7 %> n4template",
    "address": "javascript:alert(document.domain)//n4address",
    "markup of Markdown": '[x](javascript:alert(1)) ![y](http://127.0.0.2:9/z" onerror="alert(1)) n4markdown',
    "path": "../../users?q=1&x=%00#n4path",
    "formula": '=HYPERLINK("http://evil.example","n4formula")',
    "bidi": "invoice\u202egpj.exe\u202c\u2066n4bidi\u2069",
    "combining": "Z\u0301\u0302\u0303\u0304\u0305\u0306\u0307n4combining",
    "other scripts": "\u0631\u0627\u0648\u062a\u0631 \u4ea4\u6362\u673a \U0001f50c n4scripts",
    "long": f"{'W' * 200}n4long",
}
# What names may not have, and texts of devices do.
TEXTS = {**NAMES, "control characters": "a\x07b\x1b[31mred\x1b[0m\x0bn4control"}
KINDS = ("device", "site", "task", "document", "credential", "role", "webhook", "token")


def word(text: str) -> str:
    """By which it is known, also where characters that cannot be seen are left out."""
    found = re.search(r"n4\w+", text)
    assert found is not None
    return found[0]


@dataclass(kw_only=True)
class OddWorld:
    """`accepted`: the names that the API has taken, by kind; `ids` of some of what has them."""

    console: Console
    accepted: dict[str, set[str]] = field(default_factory=lambda: {kind: set() for kind in KINDS})
    ids: dict[str, str] = field(default_factory=dict)

    async def add(self, kind: str, path: str, text: str, **fields: Any) -> None:
        """A name that is refused is none that a page can show."""
        answer = await self.console.client.post(path, fields)
        assert answer.status in (201, 400), answer.content
        if answer.status == 201:
            self.accepted[kind].add(text)
            self.ids[kind] = answer.json["id"]


def odd_switch() -> SimulatedDevice:
    """Its configuration, banner and neighbors say all of the texts."""
    lines = "".join(
        f"banner motd ^C{text}^C\ninterface Vlan{10 + number}\n description {text}\n!\n"
        for number, text in enumerate(TEXTS.values())
    )
    config = ios_config("odd").removesuffix("end\n") + lines + "end\n"
    blocks = "".join(
        IOS["show lldp neighbors detail"]
        .partition("\n\nTotal")[0]
        .replace("core.example.net", text)
        .replace("Gi1/0/1", f"Gi1/0/{number}")
        .replace("00aa", f"{number:04x}")
        for number, text in enumerate(TEXTS.values(), 1)
    )
    return SimulatedDevice(
        hostname="odd",
        password=DEVICE_PASSWORD,
        config=config,
        responses={**IOS, "show lldp neighbors detail": blocks},
    )


async def populate_oddly(world: World, switch: SimulatedDevice) -> OddWorld:
    """One of each kind for each name; two versions of the configuration of the switch, and its neighbors."""
    odd = OddWorld(console=await world.console(ODD))
    for text in NAMES.values():
        await _one_of_each(odd, text)
    console = odd.console
    login = await console.credential("login", secret=DEVICE_PASSWORD)
    device = await console.device("odd", switch.port, default_credential_id=login, poll_enabled=False)
    odd.ids["switch"] = device
    for interfaces in (24, 25):
        switch.config = switch.config.replace("interface Vlan10\n", f"interface Vlan{interfaces}\n", 1)
        pulled = await console.client.post(f"/api/config/devices/{device}/pull")
        assert pulled.status in (200, 201), pulled.content
    await _poll(console, device)
    return odd


async def _one_of_each(odd: OddWorld, text: str) -> None:
    never: dict[str, Any] = {"cron_expression": "0 0 1 1 *", "enabled": False, "description": text}
    device = {"host": "192.0.2.1", "device_type": "cisco_ios", "poll_enabled": False, "tags": [text]}
    described = {"description": text, "site": text, "model": text, "metadata": {text: text}}
    await odd.add("site", "/api/sites", text, name=text, description=text)
    await odd.add("device", "/api/devices", text, name=text, **device, **described)
    filtered = {"device_filter": {"site": text}, "snapshot_name": text}
    await odd.add(
        "task", "/api/tasks/schedules", text, name=text, task_type="backup", parameters=filtered, **never
    )
    note = {"category": "notes", "content_type": "markdown", "content": f"# {text}\n\n{text}\n"}
    await odd.add("document", "/api/docs", text, name=text, **note)
    secret = {"credential_type": "generic_secret", "secret": "s", "description": text}
    await odd.add("credential", "/api/credentials", text, name=text, **secret)
    await odd.add("role", "/api/roles", text, name=text, permissions=[], description=text)
    hook = {"url": "http://127.0.0.1:9", "events": ["config_changed"], "enabled": False}
    await odd.add("webhook", "/api/webhooks", text, name=text, **hook)
    await odd.add("token", "/api/auth/tokens", text, name=text, permissions=[])


async def _poll(console: Console, device: str) -> None:
    asked = (await console.client.post(f"/api/devices/{device}/poll")).expect(202)

    async def ended() -> bool:
        polls = (await console.read(f"/api/devices/{device}/poll-history"))["polls"]
        return any(one["id"] == asked["poll_id"] and one["completed_at"] for one in polls)

    await eventually(ended, seconds=60)
