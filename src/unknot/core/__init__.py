"""The language: traces, sites, partial observation, gradients. Knows nothing of the rest of Unknot."""
