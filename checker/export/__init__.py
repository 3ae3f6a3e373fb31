"""Systems as models of other checkers, to let them count what this project's engines count."""
