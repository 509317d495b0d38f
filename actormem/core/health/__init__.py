"""Health of a memory: what was of use, what is too old, and what is wrong with items. Pure, over items alone."""
