"""A session without its actor: what can happen to it (`events`), its state (`working`), what it decides (`decide`)."""
