"""The server, one file per upstream component."""
