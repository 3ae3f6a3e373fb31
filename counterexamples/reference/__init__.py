"""The reference implementation of adapter slots in PyTorch."""
