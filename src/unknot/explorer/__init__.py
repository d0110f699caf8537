"""The explorer: a trained model as ONNX graphs."""
