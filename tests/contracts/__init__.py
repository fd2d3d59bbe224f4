"""One list of hard questions that every registered method must answer."""
