"""Like digests_test, with many more replicas than cores."""

import unittest

import digests


# Each agreement, transport and isolation; digests_test has all combinations.
SOME = (("1paxos", "nvp", "process"), ("1paxos", "srbp", "thread"), ("multipaxos", "srbp", "process"),
        ("2pc", "nvp", "thread"))


class DigestsOfMany(digests.EqualDigests):
    def test_twenty_four_replicas(self):
        for combination in SOME:
            self.check(24, *combination)

    def test_forty_eight_replicas(self):
        self.check(48, "1paxos", "nvp", "process")


if __name__ == "__main__":
    unittest.main()
