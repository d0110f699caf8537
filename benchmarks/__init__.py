"""Speed and memory, as ratios to hand-written PyTorch in the same run."""
