"""A model's server that reads nothing: it keeps the last prompt, and tells how much of the next one is new.

On the loopback, in a thread of its own; four characters are a token. It speaks as llama.cpp's server does: the reply
is streamed, and the last chunk has the timings.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

__all__ = ["PrefillServer"]

TOKEN_CHARS = 4


def rendered(messages: list[dict[str, Any]]) -> str:
    """The prompt, which goes on where the last message is the assistant's."""
    turns = [f"<{one['role']}>{one['content']}" for one in messages]
    return "</>".join(turns) + ("" if messages[-1]["role"] == "assistant" else "</><assistant>")


class PrefillServer:
    """`with PrefillServer() as server:`; `address` is where it is, `prompts` all that it was asked with."""

    def __init__(self) -> None:
        self.prompts: list[str] = []
        self._http = Http(("127.0.0.1", 0), Handler)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.005,), daemon=True)

    @property
    def address(self) -> str:
        """Its address, without a path."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def read(self, prompt: str) -> dict[str, int]:
        """What of the prompt is new, and what was kept."""
        before = self.prompts[-1] if self.prompts else ""
        pairs = enumerate(zip(prompt, before, strict=False))
        same = next((place for place, (new, old) in pairs if new != old), min(len(prompt), len(before)))
        kept = same // TOKEN_CHARS
        self.prompts.append(prompt)
        return {"prompt_n": max(1, len(prompt) // TOKEN_CHARS - kept), "cache_n": kept}


class Http(ThreadingHTTPServer):
    """Threads that never keep a test from ending."""

    daemon_threads = True
    block_on_close = False
    owner: PrefillServer


class Handler(BaseHTTPRequestHandler):
    """One request at a time from each client."""

    protocol_version = "HTTP/1.1"
    server: Http

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        timings = self.server.owner.read(rendered(body["messages"]))
        choice = {"index": 0, "delta": {"role": "assistant", "content": "a"}, "finish_reason": None}
        last = {"index": 0, "delta": {}, "finish_reason": "length"}
        whole = {"index": 0, "message": {"role": "assistant", "content": "a"}, "finish_reason": "length"}
        if body.get("stream"):
            chunks = [{"choices": [choice]}, {"choices": [last], "timings": timings}]
            lines = [f"data: {json.dumps({'object': 'chat.completion.chunk', **one})}\n\n" for one in chunks]
            self.answer("".join([*lines, "data: [DONE]\n\n"]), "text/event-stream")
        else:
            self.answer(json.dumps({"object": "chat.completion", "choices": [whole]}), "application/json")

    def answer(self, text: str, kind: str) -> None:
        """Send it."""
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args: Any) -> None:
        """Say nothing."""
