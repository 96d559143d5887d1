"""The floor of applying: the same requests with ``http.client`` over connections that are kept, answers parsed.

``python -m benchmarks.applying_bare KUBECONFIG RECORD [--parallel N]`` sends what ``benchmarks.applying_run`` recorded
and prints the cost as JSON. Writes ask for a dry run, whatever was recorded, so that nothing is done twice; most are
refused after a commit, which costs a client the same.
"""

import argparse
import base64
import http.client
import json
import ssl
import threading
import time
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from benchmarks.applying_run import Sent


class Floor:
    """Sends recorded requests from several threads."""

    def __init__(self, kubeconfig: Path, record: Path) -> None:
        config = json.loads(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        self._url = urlsplit(cluster["server"])
        stated, file = cluster.get("certificate-authority-data"), cluster.get("certificate-authority")
        authority = base64.b64decode(stated).decode() if stated else Path(file).read_text()
        self._context = ssl.create_default_context(cadata=authority)
        self._headers = {"Authorization": f"Bearer {user['token']}", "Accept": "application/json"}
        self._lines = record.open("rb")
        self._lock = threading.Lock()
        self.statuses: Counter[int] = Counter()

    def send_all(self, parallel: int) -> None:
        """Send everything, so many at a time."""
        threads = [threading.Thread(target=self._work) for _ in range(parallel)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _work(self) -> None:
        assert self._url.hostname
        connection = http.client.HTTPSConnection(self._url.hostname, self._url.port, context=self._context)
        statuses: Counter[int] = Counter()
        while True:
            with self._lock:
                line = self._lines.readline()
            if not line:
                break
            sent = msgspec.json.decode(line, type=Sent)
            headers = {**self._headers, "Content-Type": sent.content_type} if sent.content_type else self._headers
            target = sent.target if sent.body is None or "dryRun" in sent.target else f"{sent.target}&dryRun=All"
            connection.request(sent.method, target, body=sent.body, headers=headers)
            answer = connection.getresponse()
            msgspec.json.decode(answer.read())
            statuses[answer.status] += 1
        with self._lock:
            self.statuses += statuses


def main() -> None:
    """Send what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kubeconfig", type=Path)
    parser.add_argument("record", type=Path)
    parser.add_argument("--parallel", type=int, default=16)
    given = parser.parse_args()
    floor = Floor(given.kubeconfig, given.record)
    cpu, wall = time.process_time(), time.monotonic()
    floor.send_all(given.parallel)
    cost = {"cpu": time.process_time() - cpu, "wall": time.monotonic() - wall}
    print(json.dumps(cost | {"requests": floor.statuses.total()}))


if __name__ == "__main__":
    main()
