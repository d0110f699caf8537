"""Whether a model is badly trained, and what to do: looked at when training has ended, by every door."""
