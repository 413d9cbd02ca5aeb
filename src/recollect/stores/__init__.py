"""Where memories are kept: one folder a database, all behind `recollect.ports.store`."""
