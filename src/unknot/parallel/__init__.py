"""Many pieces of work that do not need one another, side by side: in processes here, or on a Ray cluster."""
