"""The doors: each takes a request from outside, calls inward, and answers in its own manner."""
