"""Equal digests of all replicas at equal slots after a checked load, with every agreement, transport and isolation."""

import unittest

import digests


class DigestsOfFew(digests.EqualDigests):
    def test_three_replicas(self):
        for combination in digests.COMBINATIONS:
            self.check(3, *combination)

    def test_one_and_two_replicas(self):
        for replicas in (1, 2):
            self.check(replicas, "1paxos", "nvp", "process")
        self.check(1, "2pc", "srbp", "thread")
        self.check(1, "multipaxos", "nvp", "thread")


if __name__ == "__main__":
    unittest.main()
