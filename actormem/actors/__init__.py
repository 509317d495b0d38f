"""The three kinds of actors: session, summarizer, long-term; what they say to each other is in `messages`."""
