"""Uses the generated client against a node: round_trip.py <url> <API key>"""

import sys

import kvorum_client
from kvorum_client.exceptions import ApiException, NotFoundException


def etag(answer):
    return next(value for name, value in answer.headers.items() if name.lower() == "etag")


url, key = sys.argv[1:]
value = bytes(range(256))
name = "python/ü \n"

with kvorum_client.ApiClient(kvorum_client.Configuration(host=url, access_token=key)) as client:
    entities = kvorum_client.EntitiesApi(client)
    written = entities.put_entity_with_http_info(name, value, ttl="1h", if_none_match="*")
    assert written.status_code == 201, written
    read = entities.get_entity_with_http_info(name)
    assert bytes(read.data) == value, read
    assert etag(read) == etag(written), read.headers
    try:
        entities.put_entity(name, value, if_none_match="*")
        raise AssertionError("412 for a condition that does not hold")
    except ApiException as unmet:
        assert unmet.status == 412 and "precondition-failed" in unmet.body, unmet
    keys = kvorum_client.RangesApi(client).list_entities(prefix="python/", values=False)
    assert "python/ü".encode() in bytes(keys), keys
    node = kvorum_client.NodeApi(client)
    assert len(node.get_cluster().nodes) == 1
    assert node.get_status().topology.replication_factor == 1
    entities.delete_entity(name, if_match=etag(written))
    try:
        entities.get_entity(name)
        raise AssertionError("404 for what was deleted")
    except NotFoundException:
        pass
print("The Python client has written, read, listed and deleted.")
