"""Seeds of randomized tests in Python; as seeds.h. Files of a failed run are kept where kept_folder() says."""

import os
import random
import sys
import tempfile


def drawn_seed():
    """A seed of 32 bits: INGOT_SEED, or a new one. Prints how to run with it again."""
    only = os.environ.get("INGOT_SEED")
    if only:
        return int(only)
    seed = random.SystemRandom().randrange(1, 2 ** 32)
    target = os.environ.get("TEST_TARGET", "THIS_TEST")
    print(f"seed {seed}; again: bazel test {target} --test_env=INGOT_SEED={seed}", file=sys.stderr, flush=True)
    return seed


def kept_folder(prefix):
    """A new folder whose files stay: Bazel keeps them in bazel-testlogs/.../test.outputs."""
    return tempfile.mkdtemp(prefix=prefix, dir=os.environ.get("TEST_UNDECLARED_OUTPUTS_DIR"))
