"""What a search and its native loop agree on: the loop's registers, its answers, its sizes."""

# Words of the loop's own state: addresses of native functions and of memory, sizes, then how far it is.
(
    EXPAND,
    CHECK,
    FINAL,
    CONTEXT,
    DEADLOCK,  # the word of the context where the first deadlock is kept
    ARENA,
    PARENTS,
    TABLE,
    SHIFT,
    LAST_BUCKET,
    OUT,
    GUESSES,
    COUNTS,
    WORDS,
    STRIDE,  # words from one successor to the next
    MOST_STATES,
    MOST_DEPTH,
    MOST_FILLED,  # states that the table takes before it has to grow
    HEAD,  # the first state that is not expanded
    TAIL,  # the number of states
    LEVEL_END,  # the first state of the next level
    LEVEL,  # the depth of the states that are expanded
    TRANSITIONS,
    PENDING,  # successors of the batch that still have to be stored
    BATCH_STATES,  # the states that they come from
    CHECKED,  # the first state whose invariants and witnesses are not evaluated
    MOST_STEPS,  # the most successors of a state
    KEPT,  # successors that are to be stored later, and may be known (see scan)
    KEPT_COUNT,
    KEPT_MOST,
    SEEN,  # a small table of successors that are kept: the last one with these bits of the hash
    REGISTERS,
) = range(32)

DONE, AGAIN, FULL_TABLE, FULL_STORE, TOO_DEEP, BROKEN = range(6)

BATCH = 512
BUCKET = 8  # entries of the table that are compared at once
LINE = 8 * BUCKET  # their bytes: a line of memory
SEEN_BITS = 15
NO_PARENT = 0xFFFFFFFF
INDEX_BITS = 32
