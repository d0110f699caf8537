"""Whether a model is badly trained, and what to do about it; shown by every door at the end of training."""
