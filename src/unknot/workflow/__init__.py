"""From data to an answer: recipe, assembly, the trained model, evaluation, prediction, pictures."""
