"""Facts about the user, in Chinese and English: found by rules (`extraction`), one live truth each (`reconcile`).

`rules`, `readers` and `wishes` say what counts as a statement; `attributes` what can be said of someone.
"""
