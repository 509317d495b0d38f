"""The record in PostgreSQL with pgvector: the same port, for what has outgrown one machine's disk.

Nothing here decides what is remembered: tables, statements and errors are PostgreSQL's, everything else is shared with
the record in a folder. Needs the extra `postgres`; imported only when a URL is opened.
"""
