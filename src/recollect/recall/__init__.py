"""The flow of a request, one module a stage: score, suppress, guarantee, pack, render, why.

Stages are pure functions of their arguments; reading a store is the pipeline's work.
"""
