"""A device as an inventory wants it to be here: checked by the rules that hold for every device."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from netautod.core.errors import InvalidInput
from netautod.core.json import values as json_values
from netautod.network.devices.records.hosts import is_host

DEVICE_TYPE = re.compile(r"[a-z0-9_]{1,64}")
LABELS = ("manufacturer", "model", "platform", "site", "serial_number", "asset_tag")
LABEL_LENGTH, TEXT_LENGTH, MOST_TAGS = 255, 4096, 100
METADATA_BYTES = 64 * 1024
LONG_NUMBER = re.compile(r"[0-9]{19}")
ENCODER = json.JSONEncoder(allow_nan=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class DesiredDevice:
    """A device as the inventory wants it. `texts`: the fields OPTIONAL of network/devices/models.py and
    `site`, None where the inventory has none.

    `metadata_text` is the metadata as JSON, if it has been written down already. `digest`: of the inventory's
    description, see digests.py.
    """

    external_id: str
    inventory_id: int | None
    name: str
    host: str
    device_type: str
    texts: Mapping[str, str | None] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    metadata_text: str | None = None
    digest: str | None = None


def desired_device(device: Any, digest: str | None = None) -> DesiredDevice:
    """Check a plugin's RemoteDevice. Raises InvalidInput with a sentence for the list of errors."""
    texts = {name: _label(name, getattr(device, name)) for name in LABELS}
    metadata, metadata_text = _metadata(device.metadata)
    texts["description"] = _text("description", device.description, TEXT_LENGTH) or None
    name, host = _text("name", device.name, LABEL_LENGTH).strip(), _text("host", device.host, 255).strip()
    if not name:
        raise InvalidInput("name: the device has none")
    if not is_host(host):
        raise InvalidInput("host: not a host name or an IP address")
    if not DEVICE_TYPE.fullmatch(_text("device_type", device.device_type, 64)):
        raise InvalidInput("device_type: must consist of a-z, 0-9 and _")
    return DesiredDevice(
        external_id=external_id(device.external_id),
        inventory_id=_number(device.inventory_id),
        name=name,
        host=host,
        device_type=device.device_type,
        texts=texts,
        tags=_tags(device.tags),
        metadata=metadata,
        metadata_text=metadata_text,
        digest=digest or None,
    )


def external_id(value: Any) -> str:
    """Return the id. Raises InvalidInput for one that could not be kept."""
    text = _text("external_id", value, LABEL_LENGTH)
    if not text:
        raise InvalidInput("external_id: the device has none")
    return text


def _number(value: Any) -> int | None:
    if value is None or (type(value) is int and 0 <= value <= json_values.INT64_MAX):
        return value
    raise InvalidInput("inventory_id: not a number that can be kept")


def _text(where: str, value: Any, length: int) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidInput(f"{where}: not a text")
    json_values.check_text(value, where)
    if len(value) > length:
        raise InvalidInput(f"{where}: longer than {length} characters")
    return value


def _label(name: str, value: Any) -> str | None:
    return _text(name, value, LABEL_LENGTH).strip() or None


def _tags(values: Any) -> tuple[str, ...]:
    found = dict.fromkeys(_text("tags", value, LABEL_LENGTH).strip() for value in values)
    found.pop("", None)
    if len(found) > MOST_TAGS:
        raise InvalidInput(f"tags: more than {MOST_TAGS}")
    return tuple(found)


def _metadata(values: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    found = dict(values)
    if not found:
        return found, "{}"
    try:
        text = ENCODER.encode(found)
        if not _is_plain(text):
            json_values.check(found)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput("metadata: no JSON") from error
    if len(text) > METADATA_BYTES:
        raise InvalidInput(f"metadata: larger than {METADATA_BYTES} bytes")
    return found, text


def _is_plain(text: str) -> bool:
    """Return whether the JSON shows by itself that it is harmless.

    That is: nothing escaped by number (NUL, surrogates), no number that could exceed 64 bits, and not enough
    brackets to be nested too deeply.
    """
    if "\\u" in text or text.count("{") + text.count("[") > json_values.MAX_DEPTH:
        return False
    return LONG_NUMBER.search(text) is None
