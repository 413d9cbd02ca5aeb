"""What the verbs of the engine do, for one caller. The engine checks, lets hooks speak, and calls.

One module for each kind: read, explain, write, join, erase, archive, upkeep; and for each of what
an engine is asked to look after: gardens, keys, quarantine, trust, frames. `caller` is who asks, of
which store. What looks after a store is permitted first, and noted with the act.
"""
