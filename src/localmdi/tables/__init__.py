"""Tables as people have them: files are read, columns understood."""
