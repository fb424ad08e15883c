"""Files, and the processes that read them."""
