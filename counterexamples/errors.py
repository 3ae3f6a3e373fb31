"""What is wrong with a trace."""


class TraceError(Exception):
    """A file that is no trace, or a trace that the program cannot take; one line that names the place."""
