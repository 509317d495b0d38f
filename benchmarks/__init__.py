"""Benchmarks: one question each, stated at the top of its file, asked through the public front door alone."""
