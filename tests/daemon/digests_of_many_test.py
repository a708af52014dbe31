"""Like digests_test, with many more replicas than cores."""

import unittest

import digests


class DigestsOfMany(digests.EqualDigests):
    def test_twenty_four_replicas(self):
        for combination in digests.COMBINATIONS:
            self.check(24, *combination)

    def test_forty_eight_replicas(self):
        self.check(48, "1paxos", "nvp", "process")


if __name__ == "__main__":
    unittest.main()
