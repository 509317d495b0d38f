"""llama.cpp's own server with one model, run by `benchmarks.ttft`: prints its address, ends when its input does.

python -m benchmarks.llama_server MODEL.gguf THREADS CONTEXT_TOKENS

It listens on the loopback only. One request at a time, and nothing of one conversation is kept for another: its cache
holds the last prompt, as that of a server which a conversation has to itself.
"""

import sys
from importlib import import_module
from typing import Any

__all__ = ["main"]

LEAST_LOGGING = -1


def main(model: str, threads: int, context_tokens: int) -> None:
    """Serve until standard input is closed."""
    llama: Any = import_module("xllamacpp")
    parameters = llama.CommonParams()
    parameters.model.path = model
    parameters.n_ctx = context_tokens
    parameters.n_parallel = 1
    parameters.port = 0
    parameters.cache_ram_mib = 0
    parameters.verbosity = LEAST_LOGGING
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    server = llama.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
