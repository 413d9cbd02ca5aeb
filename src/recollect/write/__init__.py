"""What changes a store: remember, link, dispute, reinforce, re-embed. One module a verb."""
