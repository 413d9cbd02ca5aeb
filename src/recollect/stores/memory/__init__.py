"""A store in plain dictionaries, for as long as its process lives; it knows no SQLite."""
