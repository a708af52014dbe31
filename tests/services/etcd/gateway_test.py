"""The JSON gateway: etcd and ingotd are asked the same by HTTP, and status and body of the answers are compared."""

import base64
import http.client
import json
import os
import random
import socket
import time
import unittest

import wrong_requests
from etcd_servers import Etcd, WATCHDOG_S
from tests.daemon.ingot_daemon import Daemon
from tests.seeds import drawn_seed


def b64(text):
    return base64.b64encode(text.encode()).decode()


def put(key, value, **more):
    return "kv/put", {"key": b64(key), "value": b64(value), **more}


def get(key, end="", **more):
    return "kv/range", {"key": b64(key), "range_end": b64(end), **more}


def compare(key, target, **more):
    return {"key": b64(key), "target": target, **more}


ALL = "\0"
# In this order, on empty stores. A body that is a string goes as it stands.
SAME = [
    put("a", "1"), put("b", "2"), put("b", "3", prev_kv=True), put("c", ""), put("long", "x" * 5_000),
    put("a", "", ignore_value=True), put("new", "", ignore_value=True), put("", "1"), put("a", "1", lease="77"),
    get("a"), get("nothing"), get("a", "c"), get(ALL, ALL), get(ALL, ALL, keys_only=True),
    get(ALL, ALL, count_only=True), get(ALL, ALL, limit=2),
    get(ALL, ALL, limit="2", sort_order="DESCEND", sort_target="KEY"),
    get(ALL, ALL, sortOrder=2, sortTarget="VALUE", maxModRevision="4"), get("a", revision="3"), get("a", revision=99),
    get("a", serializable=True), get("a", sort_order="UP"), get("a", limit=1.5),
    get("a", limit="x"), get("a", limit=9223372036854775808), get("a", keys_only="true"), get("a", unknown=[1, None]),
    ("kv/range", ""), ("kv/range", " "), ("kv/range", "{}"), ("kv/range", "{"), ("kv/range", "[]"), ("kv/range", "7"),
    ("kv/range", '"x"'), ("kv/range", "{'key':'YQ=='}"), ("kv/range", '{"key":"YQ==",}'), ("kv/range", '{"key":7}'),
    ("kv/range", '{"key":null}'), ("kv/range", '{"key":"!"}'), ("kv/range", '{"Key":"YQ=="}'),
    ("kv/range", "[" * 50_000), ("kv/range", '{"key":{}}'),
    ("kv/txn", {"compare": [compare("a", "VERSION", result="GREATER", version=0),
                            compare("a", "VALUE", value=b64("1"))],
                "success": [{"request_put": {"key": b64("t"), "value": b64("1")}},
                            {"request_range": {"key": b64("t")}},
                            {"requestTxn": {"success": [
                                {"request_delete_range": {"key": b64("c"), "prev_kv": True}}]}}],
                "failure": [{"request_range": {"key": b64("a")}}]}),
    ("kv/txn", {"compare": [compare("t", "CREATE", create_revision="0")],
                "failure": [{"request_range": {"key": b64("t")}}]}),
    ("kv/txn", {"compare": None, "success": []}), ("kv/txn", {}), ("kv/txn", {"compare": {}}),
    ("kv/txn", {"success": [{}]}), ("kv/txn", {"success": [7]}),
    ("kv/txn", {"success": [{"request_put": {"key": b64("a")}}, {"request_put": {"key": b64("a")}}]}),
    ("kv/deleterange", {"key": b64("b"), "prev_kv": True}), ("kv/deleterange", {"key": b64("b")}),
    ("kv/deleterange", {}),
    ("kv/compaction", {"revision": "99"}), ("kv/compaction", {"revision": 3, "physical": True}),
    get("a", revision=2), ("kv/compaction", {"revision": "3"}),
    ("kv/put", {"key": b64("big"), "value": "A" * 2_200_000}),
    ("lease/grant", {"ID": 10, "TTL": 600}), ("lock/lock", {"name": b64("lock"), "lease": "77"}),
    ("lock/lock", {"name": b64("lock"), "lease": -5}), ("lock/lock", {"name": b64("lock"), "lease": "10"}),
    ("lock/lock", {"name": b64("lock"), "lease": "10"}), get("lock", "lock0"), ("lock/unlock", {}),
    ("lock/unlock", {"key": b64("lock/a")}), ("lock/unlock", {"key": b64("lock/a")}),
    ("election/campaign", {"name": b64("e"), "lease": "77"}),
    ("election/campaign", {"name": b64("e"), "lease": "10", "value": b64("v")}),
    ("election/campaign", {"name": b64("e"), "lease": "10", "value": b64("w")}),
    ("election/leader", {"name": b64("e")}), ("election/leader", {"name": b64("nobody")}), ("election/leader", {}),
    ("election/proclaim", {}), ("election/resign", {}), ("election/proclaim", {"leader": {"lease": "10"}}),
    ("election/resign", {"leader": {"lease": "10"}}),
    ("election/proclaim", {"leader": {"name": b64("e"), "key": b64("e/a"), "rev": "1", "lease": "10"}}),
    ("election/resign", {"leader": {"name": b64("e"), "key": b64("e/a"), "rev": "1", "lease": "10"}}),
    ("election/leader", {"name": b64("e")}), ("kv/deleterange", {"key": b64("e/a")}),
    ("auth/authenticate", {"name": "x", "password": "y"}),
    ("nothing", {}), ("kv", {}), ("kv/range/", {}), ("", {}), ("lease/nothing", {}),
]
# Of all other services, likewise.
LEASE_AND_CLUSTER = [
    ("lease/grant", {"TTL": "100", "ID": "77"}), ("lease/grant", {"TTL": 100, "ID": 77}),
    ("lease/grant", {"TTL": "9000000001"}), ("lease/grant", {"TTL": "x"}), ("lease/revoke", {"ID": "78"}),
    put("leased", "1", lease="77"), ("lease/timetolive", {"ID": "77", "keys": True}),
    ("kv/lease/timetolive", {"ID": 77}), ("lease/timetolive", {"ID": "78"}), ("lease/leases", ""),
    ("kv/lease/leases", {}), ("lease/keepalive", {"ID": "77"}), ("lease/keepalive", {"ID": "78"}),
    ("lease/keepalive", '{"ID":"77"}{"ID":"78"}'), ("lease/keepalive", {}), ("kv/lease/revoke", {"ID": "77"}),
    get("leased"), ("lease/revoke", {}),
    ("cluster/member/list", {}), ("cluster/member/remove", {"ID": "7"}),
    ("cluster/member/update", {"ID": "7", "peerURLs": ["http://127.0.0.1:1"]}), ("cluster/member/promote", {"ID": "7"}),
    ("maintenance/status", {}), ("maintenance/hash", {}), ("maintenance/hash", {"revision": "99"}),
    ("maintenance/defragment", {}),
]
# What only etcd 3.6 has, or answers so.
SINCE_3_6 = [
    ("cluster/member/list", {"linearizable": True}), ("maintenance/alarm", {}),
    ("maintenance/alarm", {"action": "GET", "alarm": "NOSPACE"}), ("maintenance/hashkv", {}),
    ("maintenance/hashkv", {"revision": "99"}), ("maintenance/hashkv", {"revision": "1"}), ("auth/status", {}),
    ("maintenance/downgrade", {"action": "CANCEL"}), ("maintenance/downgrade", {"version": "3.3.0"}),
    ("maintenance/downgrade", {"version": "3"}), ("maintenance/downgrade", {"action": "ENABLE", "version": "x"}),
]
# What Ingot refuses: HTTP's status, and the beginning of the sentence.
REFUSED = [
    ("cluster/member/add", {"peerURLs": ["http://127.0.0.1:1"]}, 501, "Ingot is always a single member"),
    ("maintenance/alarm", {"action": "ACTIVATE", "memberID": "7", "alarm": "NOSPACE"}, 501, "Ingot has one alarm"),
    ("maintenance/transfer-leadership", {"targetID": "7"}, 403, "etcdserverpb.Maintenance/MoveLeader is for"),
    ("maintenance/downgrade", {"action": "ENABLE", "version": "3.5.0"}, 400,
     "etcdserver: invalid downgrade target version"),
    *[("auth/" + call, {"name": "x", "user": "x", "role": "x"}, 400, "etcdserver: authentication is not enabled")
      for call in ("enable", "disable", "user/add", "user/get", "user/list", "user/delete", "user/changepw",
                   "user/grant", "user/revoke", "role/add", "role/get", "role/list", "role/delete", "role/grant",
                   "role/revoke")],
]
# What needs more than one question, or is no part of Ingot yet.
ASKED_ELSEWHERE = {"watch", "maintenance/snapshot", "lock/lock", "lock/unlock", "election/campaign",
                   "election/proclaim", "election/leader", "election/observe", "election/resign"}
WRONG_OF_EACH_KIND = 10_000 if os.environ.get("INGOT_LONG_TESTS") else 40
METHODS = ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"]
# What differs between two clusters.
OWN = {"cluster_id", "member_id", "raft_term", "raftTerm", "raftIndex", "raftAppliedIndex", "dbSize", "dbSizeInUse",
       "leader", "hash", "name", "clientURLs", "ID", "TTL"}
# What an etcd has and Ingot has not, or 3.6 has and 3.4 has not.
LEFT_OUT = {"peerURLs", "version", "storageVersion", "dbSizeQuota", "downgradeInfo"}
# A status that etcd had up to 3.5: of FAILED_PRECONDITION.
UP_TO_3_5 = {412: 400}


class Client:
    """One connection, which is opened again when the server has ended it."""

    def __init__(self, endpoint):
        self.connection = http.client.HTTPConnection(endpoint, timeout=WATCHDOG_S)

    def ask(self, path, body, method="POST", fields=None):
        text = body if isinstance(body, str) else json.dumps(body)
        self.connection.request(method, path, body=text.encode("utf-8", "surrogateescape"), headers=fields or {})
        answer = self.connection.getresponse()
        return answer.status, answer.read().decode()

    def ask_patiently(self, path, body):
        """Again while the server says that it had no time for it, as on a busy machine."""
        end = time.monotonic() + WATCHDOG_S
        while (answer := self.ask(path, body))[0] in (503, 504) and time.monotonic() < end:
            print(f"RETRIED: {path} was answered {answer}")
        return answer


def without_own(value):
    if isinstance(value, dict):
        return {key: "N" if key in OWN else without_own(of) for key, of in value.items() if key not in LEFT_OUT}
    return [without_own(each) for each in value] if isinstance(value, list) else value


def told(status, text):
    """What a client is told: of a fault in JSON the code, since each parser has its own words."""
    if status == 404 and "Not Found" in text:
        return status, "Not Found"
    try:
        body = [json.loads(line) for line in text.splitlines()]
    except ValueError:
        return status, text
    if len(body) != 1:
        return status, without_own(body)
    body = body[0]
    status = UP_TO_3_5.get(status, status)
    if body.get("error") and body["error"] == body.get("message"):
        del body["error"]  # up to 3.5
    if status == 400 and body["code"] == 3 and not body["message"].startswith("etcdserver: "):
        return status, {"code": 3}
    if status == 429:
        return status, {"code": body["code"]}
    return status, without_own(body)


def first_lines(endpoint, path, body, number):
    """The first lines of a stream of answers, and its status."""
    connection = http.client.HTTPConnection(endpoint, timeout=WATCHDOG_S)
    connection.request("POST", path, body=body)
    answer = connection.getresponse()
    lines = [json.loads(answer.readline()) for _ in range(number)]
    connection.close()
    return answer.status, without_own(lines)


class GatewayTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.etcd = cls.enterClassContext(Etcd())
        cls.is_3_6 = cls.etcd.version() >= (3, 6)
        cls.ingot = cls.enterClassContext(Daemon())

    def both(self, ask):
        return [ask(endpoint) for endpoint in (self.etcd.endpoint, self.ingot.endpoint)]

    def require_same(self, prefix, requests):
        clients = self.both(Client)
        for path, body in requests:
            with self.subTest(path=prefix + path, body=str(body)[:200]):
                theirs, ours = (told(*client.ask(prefix + path, body)) for client in clients)
                self.assertEqual(theirs, ours)

    def test_1_each_answer_is_etcds(self):
        # protojson passes over a name that is no enumerator's; up to 3.5 it was refused.
        kept = [each for each in SAME if not (self.is_3_6 and each[1] == get("a", sort_order="UP")[1])]
        for prefix in ("/v3/", "/v3beta/"):
            self.require_same(prefix, kept + LEASE_AND_CLUSTER + (SINCE_3_6 if self.is_3_6 else []))

    def test_2_so_is_that_to_other_methods_paths_and_versions(self):
        for method in [] if self.is_3_6 else METHODS:  # 501 since then, with JSON
            with self.subTest(method=method):
                theirs, ours = self.both(lambda endpoint: Client(endpoint).ask("/v3/kv/range", "", method))
                self.assertEqual(theirs, ours)
        for path in ("/v3alpha/kv/range", "/v2/keys"):
            theirs, ours = self.both(lambda endpoint: Client(endpoint).ask(path, {})[0])
            self.assertEqual(theirs, ours)
        theirs, ours = self.both(lambda endpoint: told(*Client(endpoint).ask(
            "/v3/kv/range?x=y", {"key": b64("a")}, fields={"Content-Type": "text/plain"})))
        self.assertEqual(theirs, ours)
        self.assertEqual(Client(self.ingot.endpoint).ask("/v3/kv/range", {}, fields={"Origin": "http://x"})[0], 403)

    def test_3_a_watch_is_a_stream_of_lines(self):
        start = json.dumps({"create_request": {"key": b64("w"), "start_revision": "4", "prev_kv": True}})
        other = json.dumps({"create_request": {"key": b64("w"), "watch_id": "5"}})
        again = json.dumps({"create_request": {"key": b64("w"), "watch_id": 5}})
        cancel = json.dumps({"cancel_request": {"watch_id": "5"}})
        for client in self.both(Client):
            client.ask("/v3/kv/put", put("w", "1")[1])
            client.ask("/v3/kv/put", put("w", "2")[1])
            client.ask("/v3/kv/deleterange", {"key": b64("w")})
        for body, lines in ((start, 2), (other + again + cancel, 3)):
            theirs, ours = self.both(lambda endpoint: first_lines(endpoint, "/v3/watch", body, lines))
            self.assertEqual(theirs, ours)

    def test_3_an_election_is_observed_as_a_stream_of_lines(self):
        for client in self.both(Client):
            client.ask("/v3/kv/put", put("observed/a", "1")[1])
        theirs, ours = self.both(lambda endpoint: first_lines(
            endpoint, "/v3/election/observe", json.dumps({"name": b64("observed")}), 1))
        self.assertEqual(theirs, ours)

    def test_4_requests_in_parts_are_read(self):
        request = b"POST /v3/kv/range HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        for chunk in (b'{"key"', b':"YQ=="', b"}", b""):
            request += b"%x\r\n%s\r\n" % (len(chunk), chunk)

        def ask(endpoint):
            host, port = endpoint.rsplit(":", 1)
            with socket.create_connection((host, int(port)), timeout=WATCHDOG_S) as connection:
                for at in range(0, len(request), 5):
                    connection.sendall(request[at:at + 5])
                answer = http.client.HTTPResponse(connection)
                answer.begin()
                return told(answer.status, answer.read().decode())

        theirs, ours = self.both(ask)
        self.assertEqual(theirs, ours)

    def test_5_what_differs_is_refused(self):
        client = Client(self.ingot.endpoint)
        for path, body, why in [
            ("kv/txn", '{"compare":[null]}', "takes an object, not null"),  # ends the connection at etcd
            ("kv/range", '{"key":"YQ==","key":"YQ=="}', "is there twice"),
            ("kv/range", '{"key":"YQ=="}{"key":"YQ=="}', "one request message"),
            ("watch", "{", "the request ends within an object"),
        ]:
            with self.subTest(body=body):
                status, text = client.ask("/v3/" + path, body)
                self.assertEqual(status, 400)
                self.assertIn(why, text)

    def test_6_every_path_of_etcds_is_there(self):
        asked = {path for path, *_ in SAME + LEASE_AND_CLUSTER + SINCE_3_6 + REFUSED} | ASKED_ELSEWHERE
        for path in ("lease/grant", "lease/revoke", "kv/lease/revoke", "lease/keepalive", "lease/timetolive",
                     "kv/lease/timetolive", "lease/leases", "kv/lease/leases", "cluster/member/add",
                     "cluster/member/remove", "cluster/member/update", "cluster/member/list", "cluster/member/promote",
                     "maintenance/alarm", "maintenance/status", "maintenance/hash", "maintenance/hashkv",
                     "maintenance/snapshot",
                     "maintenance/defragment", "auth/status", "maintenance/downgrade",
                     "maintenance/transfer-leadership",
                     "auth/enable", "auth/disable", "auth/user/add", "auth/user/get", "auth/user/list",
                     "auth/user/delete", "auth/user/changepw", "auth/user/grant", "auth/user/revoke", "auth/role/add",
                     "auth/role/get", "auth/role/list", "auth/role/delete", "auth/role/grant", "auth/role/revoke",
                     "lock/lock", "lock/unlock", "election/campaign", "election/proclaim", "election/leader",
                     "election/resign"):
            with self.subTest(path=path):
                # Of a lease that there is not, so that no lock is waited for.
                status, body = Client(self.ingot.endpoint).ask("/v3/" + path, {"lease": "77"})
                self.assertNotEqual((status, body), (404, "Not Found\n"))
                self.assertTrue(status == 200 or "error" in json.loads(body.splitlines()[0]))
                self.assertIn(path, asked, "no test looks at its answers")

    def test_7_what_is_no_part_of_ingot_is_refused_with_a_sentence(self):
        client = Client(self.ingot.endpoint)
        for path, body, status, sentence in REFUSED:
            with self.subTest(path=path):
                answered, text = client.ask("/v3/" + path, body)
                self.assertEqual(answered, status)
                self.assertEqual(json.loads(text)["message"][:len(sentence)], sentence)

    def test_8_wrong_requests_are_answered_as_etcd_answers(self):
        """Where Ingot reads JSON more strictly, it may refuse (400, INVALID_ARGUMENT) what etcd passes over."""
        seed = drawn_seed()
        for kind in wrong_requests.KINDS:
            prng, refused, stricter = random.Random(f"{seed} {kind.__name__}"), 0, 0
            clients = self.both(Client)
            for client in clients:
                client.ask("/v3/lease/grant", {"TTL": "1000", "ID": "77"})
            for _ in range(WRONG_OF_EACH_KIND):
                path, body = kind(prng)
                if kind is wrong_requests.member:
                    # etcd drops a change of members, and never answers, that comes before it has noted the end of the
                    # change before; when it has answered a put, it has.
                    for client in clients:
                        client.ask_patiently("/v3/kv/put", put("between", "x")[1])
                theirs, ours = (told(*client.ask_patiently("/v3/" + path, body)) for client in clients)
                refused += ours[0] != 200
                if theirs != ours and kind in wrong_requests.OF_JSON and ours == (400, {"code": 3}):
                    stricter += 1
                    continue
                if not self.is_3_6 and theirs == (400, {"code": 3}) and wrong_requests.only_since_3_6(body):
                    continue
                self.assertEqual(theirs, ours, f"{kind.__name__}: {path} {body}")
            print(f"{kind.__name__}: {WRONG_OF_EACH_KIND} requests, {refused} refused, {stricter} by Ingot alone")

    def test_a_method_that_grpc_cpp_serves_refused_an_empty_body(self):
        for path in ("/v3/cluster/member/list", "/v3/maintenance/status"):
            for body in ("", "{}"):
                with self.subTest(path=path, body=body):
                    self.assertEqual(Client(self.ingot.endpoint).ask(path, body)[0], 200)

    def test_a_method_that_grpc_cpp_serves_was_carried_out_though_more_than_its_request_came(self):
        for body in ('{"action":"GET"}{"action":"GET"}', '{"action":"GET"} nonsense'):
            status, text = Client(self.ingot.endpoint).ask("/v3/maintenance/alarm", body)
            self.assertEqual((status, json.loads(text)["code"]), (400, 3), text)

    def test_a_body_in_an_unknown_transfer_encoding_was_taken_for_the_next_request(self):
        host, port = self.ingot.endpoint.rsplit(":", 1)
        for fields in ("Transfer-Encoding: gzip\r\n", "Transfer-Encoding: chunked, identity\r\n",
                       "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"):
            inner = b"POST /v3/kv/put HTTP/1.1\r\nContent-Length: 31\r\n\r\n" + json.dumps(
                {"key": b64("smug"), "value": b64("1")}, separators=(",", ":")).encode()
            with self.subTest(fields=fields), \
                    socket.create_connection((host, int(port)), timeout=WATCHDOG_S) as connection:
                connection.sendall(f"POST /v3/kv/range HTTP/1.1\r\n{fields}\r\n".encode() + inner)
                answer = b""
                while part := connection.recv(65536):
                    answer += part
                self.assertNotIn(b"HTTP/1.1 200", answer)
                self.assertTrue(answer.startswith(b"HTTP/1.1 400"), answer)
        self.assertNotIn("kvs", Client(self.ingot.endpoint).ask("/v3/kv/range", {"key": b64("smug")})[1])


if __name__ == "__main__":
    unittest.main()
