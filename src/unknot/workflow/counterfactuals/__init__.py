"""Change one factor and keep the rest: numbers that say whether that is what happens."""
