"""Single cells: types from few labels."""
