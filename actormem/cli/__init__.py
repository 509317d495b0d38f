"""The command line. It uses only the public front door."""
