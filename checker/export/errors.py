"""What cannot be exported."""


class ExportError(Exception):
    """The other checker has no room for a part of the system; the message says which part."""
