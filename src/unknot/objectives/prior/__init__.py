"""The prior's side of the decomposition: log p of every node of a tree of groups."""
