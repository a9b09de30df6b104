"""Full-text search: the terms of a text and of a query."""
