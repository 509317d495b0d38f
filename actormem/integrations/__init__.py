"""Where people already are: other libraries, each in a file of its own, imported only when asked for."""
