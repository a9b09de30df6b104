"""The ctxweb project: settings, command line, server and worker.  What it shows is made in ``sessions``."""
