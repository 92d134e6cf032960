"""What PyIceberg's default FileIO makes of one fast append on S3: ``python -m`` this module prints its HTTP requests.

Arrow's client needs a little of S3 beyond ``ObjectServer``: uploads in parts, and a listing that is empty. It judges
nothing: the model counts what PyIceberg asks of its FileIO, and this shows what becomes of it on the wire.
"""

from __future__ import annotations

import os
import tempfile
from typing import Final

from pyiceberg.catalog.sql import SqlCatalog

from rigs.java.object_server import ObjectServer
from rigs.java.wire import HttpRequest
from rigs.pyiceberg.story_stage import SCHEMA, SPEC, TABLE, append, data_file

_XML: Final = {"Content-Type": "application/xml"}
_NAMESPACE: Final = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
_ANSWERS: Final = {  # what a target contains, and what it is answered
    "list-type=2": f"<ListBucketResult {_NAMESPACE}><KeyCount>0</KeyCount></ListBucketResult>",
    "uploads": f"<InitiateMultipartUploadResult {_NAMESPACE}><UploadId>1</UploadId></InitiateMultipartUploadResult>",
    "uploadId": f'<CompleteMultipartUploadResult {_NAMESPACE}><ETag>"1"</ETag></CompleteMultipartUploadResult>',
}


class UploadServer(ObjectServer):
    """A small S3 that takes uploads of one part and lists nothing."""

    def _act(self, request: HttpRequest, key: str) -> tuple[int, dict[str, str], bytes]:
        for part, text in _ANSWERS.items():
            if request.method in ("GET", "POST") and part in request.target:
                return 200, dict(_XML), f'<?xml version="1.0"?>{text}'.encode()
        return super()._act(request, key)


def requests_of_one_append() -> list[str]:
    """Method and object of every request, from loading the table to the end of the commit."""
    os.environ["PYICEBERG_MAX_WORKERS"] = "1"  # one order
    with UploadServer() as server, tempfile.TemporaryDirectory() as folder:
        properties = {
            "s3.endpoint": f"http://127.0.0.1:{server.open_door('client').port}",
            "s3.access-key-id": "any",
            "s3.secret-access-key": "any",
            "s3.region": "us-east-1",
        }
        uri = f"sqlite:///{folder}/catalog.sqlite"
        catalog = SqlCatalog("endive", uri=uri, warehouse="s3://bucket/warehouse", **properties)
        catalog.create_namespace("db")
        append(catalog.create_table(TABLE, SCHEMA, partition_spec=SPEC), data_file(0, 0, "first"))
        server.take_log()
        append(catalog.load_table(TABLE), data_file(0, 0, "second"))
        return [
            f"{request.method} {request.kind if '/' in request.key else 'listing'}" for request in server.take_log()
        ]


if __name__ == "__main__":
    print("\n".join(requests_of_one_append()))
