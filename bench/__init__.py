"""Benchmarks: speed beside a peer, in one run, CPU time. Kept apart from the tests."""
