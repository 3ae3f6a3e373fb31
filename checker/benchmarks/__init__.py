"""The peers and this checker on the same work."""
