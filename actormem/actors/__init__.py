"""The kinds of actors: session, summarizer, long-term, upkeep; what they say to each other is in `messages`."""
