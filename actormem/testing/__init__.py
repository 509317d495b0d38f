"""Public: a fake clock, a scripted LLM and embedder, for tests of your own agents and adapters."""
