"""`python -m unknot` is the `unknot` command."""

from unknot.cli import main

main()
