"""What the core needs from outside: small protocols that adapters fulfil."""
