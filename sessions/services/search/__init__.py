"""Full-text search's index: what is stored is indexed after it can be read, by a worker, a session at a time."""
