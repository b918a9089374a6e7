"""The home screen: the task, the repository, the model, and the runs that were left."""
