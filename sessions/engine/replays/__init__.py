"""A session replayed under a policy: the walk, its contexts, its compactions, the diff of lists."""
