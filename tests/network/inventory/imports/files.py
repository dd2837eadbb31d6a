"""What the tests of imports share: the routes, small files, and how an import is asked for."""

from tests.support.client import ApiClient, Response

HEAD = "name,host,device_type"
CSV, JSON = "/api/devices/import/csv", "/api/devices/import/json"
GOOD = f"{HEAD}\r\na,10.0.0.1,linux\r\n"


async def import_csv(api: ApiClient, text: str, query: str = "") -> Response:
    return await api.post(CSV + query, raw=text.encode(), headers={"Content-Type": "text/csv"})
