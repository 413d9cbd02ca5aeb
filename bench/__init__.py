"""Benchmarks: speed and quality beside peers, in one run. Kept apart from the tests."""
