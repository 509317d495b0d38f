"""What is decided without waiting: no await, no I/O, no clock, no chance.

`values`, `budget`, `ids`, `text` and `wire` are what all of it speaks of. `session` is the state of one conversation,
`context` what the model sees of it, `entities` the exact values in it, `summary` what stands for its older part;
`facts` are what it says of the user, and `recall` finds them again.
"""
