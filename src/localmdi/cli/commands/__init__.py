"""The commands, one file each: its options, what they say, and what it does."""
