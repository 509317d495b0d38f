"""One owner's items held ready to be searched: `partition`, asked by a `query`, scored by `search` and `rank`.

The arms behind them: `lexical`, `vectors`, `neighbours`, and the small ones in `arms`. `gate` says whether to ask.
"""
