"""How well recall finds, set by set, beside the simple ways to search that anybody could have."""
