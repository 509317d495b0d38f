"""What is decided without waiting: no await, no I/O, no clock, no chance.

Values and events: `values`, `events`, `budget`, `ids`, `text`, `wire`. A session's state and what it decides: `working`,
`decide`, `fitting`, `blocks`, `shorten`, `snapshot`. What the model sees: `context`, `notes`, `gate`, `trace`. Exact
values: `entities` and the parts behind it. Facts: `extraction`, `attributes`, `reconcile`, `remember`. Summaries:
`summary` and the parts behind it. Recall: `partition`, `query`, `search`, `rank`, `lexical` and the parts behind them.
"""
