"""One etcdctl script, run against etcd and against ingotd: same output, same errors, same exit codes."""

import re
import subprocess
import unittest

from etcd_servers import ETCDCTL, PATIENCE, Etcd, WATCHDOG_S, ctl_environment
from tests.daemon.ingot_daemon import Daemon
import script

# Parts that may differ: the member and its term, sizes and positions in the log, versions, times.
MASKS = [
    (r'"(cluster_id|member_id|raft_term|raftTerm|raftIndex|raftAppliedIndex|leader|dbSize|dbSizeInUse|hash)":\d+',
     r'"\1":N'),
    (r'"(ClusterID|MemberID|RaftTerm|RaftIndex|RaftAppliedIndex|Leader|DBSize|DBSizeInUse|Hash)" : \d+', r'"\1" : N'),
    (r'"(version|Version)"( ?: ?)"[0-9.]+"', r'"\1"\2"V"'),
    (r"took = [0-9.]+\S*s", "took = T"),
    (r'"ts":"[^"]*"', '"ts":"T"'),
    (r'"target":"[^"]*"', '"target":"T"'),
    (r"endpoint://client-[^/]*/", "endpoint://client/"),
    # endpoint status: endpoint, id, version, size, leader, learner, term, index, applied index, errors
    (r"^ENDPOINT, [0-9a-f]+, [0-9.]+, [0-9.]+ ?[kKMG]?B, (true|false), (true|false), \d+, \d+, \d+, ",
     r"ENDPOINT, ID, VERSION, SIZE, \1, \2, TERM, INDEX, INDEX, "),
]


def run(endpoint, words, text):
    """The visible result: exit code, standard output, standard error; masked."""
    done = subprocess.run([ETCDCTL, f"--endpoints={endpoint}", *PATIENCE, *words], input=text.encode(),
                          env=ctl_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=WATCHDOG_S)
    outputs = []
    for output in (done.stdout, done.stderr):
        seen = output.decode(errors="replace").replace(endpoint, "ENDPOINT")
        for pattern, mask in MASKS:
            seen = re.sub(pattern, mask, seen, flags=re.MULTILINE)
        outputs.append(seen)
    return {"exit code": done.returncode, "output": outputs[0], "errors": outputs[1]}


class ScriptTest(unittest.TestCase):
    def test_same_script_same_output(self):
        with Etcd() as etcd, Daemon() as ingot:
            compared = 0
            for group, words, text in script.steps():
                with self.subTest(group=group, command=" ".join(words), input=text[:200]):
                    self.assertEqual(run(ingot.endpoint, words, text), run(etcd.endpoint, words, text))
                compared += 1
            print(f"{compared} commands compared")

    def test_member_list_is_the_daemon(self):
        with Daemon() as ingot:
            seen = run(ingot.endpoint, ["member", "list"], "")
            self.assertEqual(seen["exit code"], 0)
            self.assertRegex(seen["output"], r"^[0-9a-f]+, started, \S+, , http://ENDPOINT, false\n$")
            self.assertEqual(run(ingot.endpoint, ["endpoint", "health", "--cluster"], "")["exit code"], 0)

    def test_missing_calls_are_refused_with_a_sentence(self):
        expected = [
            (["member", "add", "other", "--peer-urls=http://127.0.0.1:1"], "Ingot is always a single member"),
            (["move-leader", "1234"], "MoveLeader is for the daemon's own user and root"),
            (["user", "list"], "etcdserver: authentication is not enabled"),
        ]
        with Daemon() as ingot:
            for words, sentence in expected:
                with self.subTest(command=" ".join(words)):
                    seen = run(ingot.endpoint, words, "")
                    self.assertNotEqual(seen["exit code"], 0)
                    self.assertIn(sentence, seen["errors"])


if __name__ == "__main__":
    unittest.main()
