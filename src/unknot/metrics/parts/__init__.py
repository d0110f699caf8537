"""What several scores share: reading arrays, bins, information, trees, votes, intervals."""
