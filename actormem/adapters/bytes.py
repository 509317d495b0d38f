"""One token for each byte of UTF-8: the bound that needs no vocabulary.

Law: a byte-level BPE begins with single bytes and only ever merges them, so it never counts more than this.
"""

from actormem.adapters.prefixes import shrunk_prefix

__all__ = ["BytesTokenizer"]


class BytesTokenizer:
    """Counts UTF-8 bytes. Three to five times the tokens of usual text, and never too few.

    Cost:
        O(n) for a text of n characters; about 0.1 ms a megabyte.
    """

    @property
    def name(self) -> str:
        return "bytes"

    @property
    def exact(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "<BytesTokenizer, bound>"

    def count(self, text: str) -> int:
        if text.isascii():
            return len(text)
        # A lone surrogate takes 3 bytes here, and so does the U+FFFD that is sent in its place.
        return len(text.encode("utf-8", "surrogatepass"))

    def truncate(self, text: str, tokens: int) -> str:
        if tokens <= 0:
            return ""
        head = text[:tokens]
        raw = head.encode("utf-8", "surrogatepass")
        if len(raw) <= tokens:
            return text if len(head) == len(text) else shrunk_prefix(text, len(head), tokens, self.count)
        # Continuation bytes are 10xxxxxx: stepping over them leaves the start of a whole code point.
        end = tokens
        while end > 0 and raw[end] & 0xC0 == 0x80:
            end -= 1
        kept = len(raw[:end].decode("utf-8", "surrogatepass"))
        return shrunk_prefix(text, kept, tokens, self.count)
