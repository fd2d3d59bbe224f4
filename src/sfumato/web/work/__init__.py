"""What a child process does, by kind; it may take minutes and crash without harm to the server."""
