"""What the server does."""
