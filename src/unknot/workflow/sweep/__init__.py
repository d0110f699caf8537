"""Sweeps: one recipe with some settings varied and several seeds, trained, kept and ranked."""
