"""The HTTP API: the documents of the command line, for programs."""
