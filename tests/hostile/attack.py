"""What an attack is: what it does, its sizes, and what is demanded of a server that meets it."""

from typing import Callable, NamedTuple, Optional

# What a server is to do with the attacker.
GOES = "goes"        # it ends each connection of the attack
REFUSES = "refuses"  # it ends the connection, or answers each of the attack's calls with an error
BEARS = "bears"      # it may also serve it, in bounded memory, while other clients do not notice


class Attack(NamedTuple):
    title: str
    act: Callable             # of a Scene
    small: dict               # sizes of the test
    full: dict                # sizes that differ in a full run
    demand: str
    memory_mib_max: int       # that the serving process may grow by
    idle_kib_max: Optional[float] = None  # that it may besides grow by for each connection that the attack holds
    descriptors: Optional[int] = None     # the server's limit of open files
    store: Optional[dict] = None          # keys to be there before: {"keys": N, "bytes": N}; also {"full_keys": N}

    def sizes(self, full):
        return {**self.small, **(self.full if full else {})}
