"""The results of ``check`` in each format."""
