"""The MCP door: tools made from the table of verbs, frames as prompts and resources.

`tools`, `schemas`, `texts`, `calls` and `frames` know no SDK; `server` puts them behind the
official one, and is loaded by `recollect mcp` and by whoever is asked at `/mcp`, by nobody else.
"""
