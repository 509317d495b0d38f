"""A memory that another process has open: what is sent over the wire, and the client that speaks it."""
