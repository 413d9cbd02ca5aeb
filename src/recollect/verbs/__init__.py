"""What the verbs of the engine do, for one caller. The engine checks, lets hooks speak, and calls.

One module for each kind: read, explain, write, join, erase, upkeep. `caller` is who asks, of which
store.
"""
