"""The record (SQLite), the cache (diskcache), and the lock of a folder."""
