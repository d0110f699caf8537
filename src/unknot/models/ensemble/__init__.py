"""An ensemble of small semi-supervised models of a table, combined by stacking."""
