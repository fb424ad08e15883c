"""Tables in files: opened, read in batches, and turned into training data or a model's rows."""
