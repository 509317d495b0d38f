"""Knowledge: documents that the application hands in, cut into passages that many users' sessions may recall.

A knowledge base is an owner that no user can be, so that all that keeps owners apart keeps bases apart too.
"""
