"""What must hold, and what must be reachable: one short function each."""
