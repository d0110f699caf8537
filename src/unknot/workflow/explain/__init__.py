"""Explanations: which columns or words the predictions of a factor rest on."""
