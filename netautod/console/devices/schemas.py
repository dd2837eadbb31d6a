"""The queries of the pages of one device."""

from marshmallow import fields, validate

from netautod.console.devices.columns import TABS
from netautod.core.schema.bases import PageQuery
from netautod.network.devices.schemas import Label


class DeviceTabQuery(PageQuery):
    """The query of a tab; `q` filters its rows."""

    tab = fields.String(load_default="summary", validate=validate.OneOf([tab.name for tab in TABS]))
    q = Label()
