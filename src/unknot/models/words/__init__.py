"""Networks for texts as counts of words: classes by Bayes' rule, topics, and weights of words."""
