"""The command line of this folder's Python programs."""
import argparse
import sys


class Parser(argparse.ArgumentParser):
    """Help begins with the program's docstring as it stands there; an error is one sentence, with exit code 2."""

    def __init__(self, description):
        super().__init__(description=description.strip(), formatter_class=argparse.RawDescriptionHelpFormatter,
                         allow_abbrev=False)

    def parse_args(self):
        known = self._option_string_actions
        for word in sys.argv[1:]:  # an unknown flag is named before what is missing
            flag = word.partition("=")[0]
            if flag.startswith("--") and len(flag) > 2 and flag not in known:
                self.error(f"unknown flag {flag}")
        return super().parse_args()

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}; see --help\n")
