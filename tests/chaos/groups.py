"""The groups that chaos goes round: every agreement, transport, number of replicas and --fence, in an order that a seed
draws."""

import itertools
import random

AGREEMENTS = ("1paxos", "multipaxos", "2pc")
TRANSPORTS = ("nvp", "srbp")
SIZES = (3, 4, 5)


def all_groups():
    """(number of replicas, other flags of ingotd); only 1Paxos has an acceptor to --fence."""
    for agreement, transport, replicas, fence in itertools.product(AGREEMENTS, TRANSPORTS, SIZES, (False, True)):
        if agreement == "1paxos" or not fence:
            yield replicas, [f"--agreement={agreement}", f"--transport={transport}"] + ["--fence"] * fence


def drawn_groups(seed):
    """All groups; of each three that follow one another, each has another agreement as long as there are some left."""
    chance = random.Random(seed)
    by_agreement = {}
    for group in all_groups():
        by_agreement.setdefault(group[1][0], []).append(group)
    queues = list(by_agreement.values())
    for queue in queues:
        chance.shuffle(queue)
    chance.shuffle(queues)
    return [group for turn in itertools.zip_longest(*queues) for group in turn if group is not None]
