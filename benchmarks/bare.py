"""The floor of reading: the same pages, downloaded with ``http.client`` and parsed with msgspec, and dropped.

``python -m benchmarks.bare KUBECONFIG`` reads request targets from standard input, one a line, and sends them one after
the other over one connection. It prints what came as JSON.
"""

import base64
import http.client
import json
import ssl
import sys
from pathlib import Path
from urllib.parse import urlsplit

import msgspec


def main() -> None:
    """Download and parse every target of standard input."""
    config = json.loads(Path(sys.argv[1]).read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    url = urlsplit(cluster["server"])
    assert url.hostname
    connection = http.client.HTTPSConnection(
        url.hostname, url.port, context=ssl.create_default_context(cadata=authority)
    )
    headers = {"Authorization": f"Bearer {user['token']}", "Accept": "application/json"}
    requests = objects = size = 0
    for line in sys.stdin:
        connection.request("GET", line.strip(), headers=headers)
        body = connection.getresponse().read()
        requests, size = requests + 1, size + len(body)
        objects += len(msgspec.json.decode(body)["items"])
    print(json.dumps({"requests": requests, "objects": objects, "bytes": size}))


if __name__ == "__main__":
    main()
