"""The commands, a module each: they parse, call the engine, and hand on what it answered."""
