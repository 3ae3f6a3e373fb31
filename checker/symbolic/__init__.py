"""Z3: bounded search, induction, PDR."""
