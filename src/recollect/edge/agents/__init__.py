"""Coding agents: what their hooks are answered, how they are set up, and whether it works."""
