"""The floor of reading: the same lists, page by page with ``http.client``, parsed with msgspec, and dropped.

``python -m benchmarks.bare KUBECONFIG`` reads paths of lists from standard input, one a line, and reads each to its end
over one connection. It prints what came as JSON.
"""

import base64
import http.client
import json
import ssl
import sys
from pathlib import Path
from urllib.parse import quote, urlsplit

import msgspec

PAGE = 500


def main() -> None:
    """Download and parse every list of standard input."""
    config = json.loads(Path(sys.argv[1]).read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    stated, file = cluster.get("certificate-authority-data"), cluster.get("certificate-authority")
    authority = base64.b64decode(stated).decode() if stated else Path(file).read_text()
    url = urlsplit(cluster["server"])
    assert url.hostname
    connection = http.client.HTTPSConnection(
        url.hostname, url.port, context=ssl.create_default_context(cadata=authority)
    )
    headers = {"Authorization": f"Bearer {user['token']}", "Accept": "application/json"}
    requests = objects = size = 0
    for line in sys.stdin:
        token: str | None = ""
        while token is not None:
            target = f"{line.strip()}?limit={PAGE}" + (f"&continue={quote(token)}" if token else "")
            connection.request("GET", target, headers=headers)
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200:
                sys.exit(f"{answer.status} for {target}")
            page = msgspec.json.decode(body)
            requests, size, objects = requests + 1, size + len(body), objects + len(page["items"])
            token = page["metadata"].get("continue") or None
    print(json.dumps({"requests": requests, "objects": objects, "bytes": size}))


if __name__ == "__main__":
    main()
