"""The words that the pass over a search's states (``edges.py``) and its caller (``graph.py``) agree on."""

(
    EXPAND,  # addresses of native functions
    JUDGE,
    CLASSIFY,
    CONTEXT,  # addresses of memory, and sizes
    ARENA,
    TABLE,
    SHIFT,
    LAST_BUCKET,
    WORDS,  # of a state
    STRIDE,  # words from one successor to the next
    OUT,  # room for the successors of a state
    TARGETS,  # a half word for each step: the number of the state that it leads to
    FAIR,  # for each step the bits of the fair sets that it is in
    FAIR_WORDS,  # words of these bits
    JUDGED,  # for each state a word for each obligation
    OBLIGATIONS,
    FIRST,  # for each state the number of its first step, and behind the last one the number of steps
    CRASHED,  # for each state a word: 1 after a crash
    STATE,  # the next state
    STEP,  # the next step
    REGISTERS,
) = range(21)

FINE, BROKEN, UNKNOWN = 0, -1, -2
"""What the pass answers: on it went, a model error, or a successor that the search never stored."""
