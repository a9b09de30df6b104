"""One module per subcommand of ``ctxweb``; each declares ``command``."""
