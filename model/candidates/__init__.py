"""Changes to the scheduler, written as a user would write them."""
