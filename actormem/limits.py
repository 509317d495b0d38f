"""Every limit and default, with its unit in its name and its reason beside it.

Relations between them are asserted at the end, so that a change which breaks one is found at import.
"""

from typing import Final

# --- what comes in -------------------------------------------------------------------------------
ID_CHARS_MAX: Final = 256  # an id is a key, not a text; SQLite indexes stay small
MESSAGE_BYTES_MAX: Final = 256 * 1024  # one message; longer ones are files and belong elsewhere
MESSAGE_DEPTH_MAX: Final = 32  # nesting of JSON parts: deeper input breaks decoders on small stacks
ITEM_TEXT_CHARS_MAX: Final = 16_000  # one memory item: a long episode, not a book
QUERY_CHARS_MAX: Final = 8_000  # a recall query; the rest adds cost and no meaning

# --- budget, as shares of `Budget.context` --------------------------------------------------------
BUDGET_TOKENS_MIN: Final = 64  # below this not even a short question and its delimiters fit
FIRST_TOKENS: Final = 1_000  # of a context: what memory adds need not grow as fast as what is said
SUMMARY_SHARE_FIRST: Final = 0.06  # of those first tokens: exact values say more in so little room
SUMMARY_SHARE: Final = 0.12  # of the rest
RECALL_SHARE_FIRST: Final = 0.1  # two facts and their frame
RECALL_SHARE: Final = 0.02
NOTE_TOKENS_MIN: Final = 72  # of one note by default: its frame, and one fact
NOTE_PART_MAX: Final = 4  # a quarter of a small context is the most this floor may take
ENTITIES_FIRST_TOKENS: Final = 600  # of a context: below it exact values come before messages in words
ENTITIES_SHARE_FIRST: Final = 0.6  # of those first tokens
ENTITIES_SHARE: Final = 0.06  # of the rest: values grow with what is out of sight, but need not all be shown
COMPACT_AT: Final = (
    0.75  # of the context: asked for before the budget is met; this and the next: `benchmarks.tokens`
)
COMPACT_TO: Final = 0.3  # low enough that the next one is many turns away
KEEP_RECENT_MESSAGES: Final = 6  # three exchanges stay verbatim where the budget allows
MESSAGE_SHARE_MAX: Final = 0.5  # one message may take half of the context; the rest of it is cut

# --- the wire form --------------------------------------------------------------------------------
PRIMING_TOKENS: Final = 3  # OpenAI chat format: the reply is primed with 3 tokens
MESSAGE_OVERHEAD_TOKENS: Final = 4  # 3 a message and 1 for its role (OpenAI cookbook)
NAME_OVERHEAD_TOKENS: Final = 1
TOOL_CALL_OVERHEAD_TOKENS: Final = 6  # delimiters around a call; not published, taken from usage figures
TOOLS_OVERHEAD_TOKENS: Final = 12  # namespace lines around tool schemas; as above
UNKNOWN_MODEL_FACTOR: Final = (
    1.5  # times o200k, of ASCII but digits: Llama 2 counts 1.26 times, single texts more
)

# --- sessions -------------------------------------------------------------------------------------
SNAPSHOT_EVERY_EVENTS: Final = 256  # waking replays at most this many events
OUTCOME_WAIT_S: Final = 1.0  # leaving a turn under cancellation waits this long for its acknowledgement
TURN_WAIT_S: Final = 30.0  # a turn waits this long for the one before it
SETTLE_TIMEOUT_S: Final = 600.0  # waiting for background work: summaries of a slow model
CLOSE_REPORT_S: Final = 2.0  # of real time: closing counts what is left to do for so long at most
IDLE_S: Final = 900.0  # without a message before an actor is passivated; Orleans' default
RESIDENT_LIMIT: Final = 10_000  # sessions, and owners, in memory at once
MAILBOX_MESSAGES: Final = 256  # a few seconds of a busy session; beyond it senders wait or are refused
DEFAULT_CONTEXT_TOKENS: Final = 4_096  # of a session whose budget nobody set
ASK_TIMEOUT_S: Final = 30.0  # any other question to an actor
ENTITIES_MAX: Final = 4_096  # exact values of one session; the least recently seen goes first

# --- threads, none of them shared with the default pool ---------------------------------------------
LARGE_TEXT_CHARS: Final = 4_096  # above it a text is counted and searched for values in a thread
COUNTING_THREADS: Final = 2  # tokenizers release the GIL: two cores' worth
SEARCHING_THREADS: Final = 2
CONTEXTS_AT_ONCE: Final = 24  # 5 ms each on the loop: all of them are made within RECALL_DEADLINE_S
BACKGROUND_THREADS: Final = 2  # summaries, imports, what is read again: nobody's turn waits for them
INDEXING_THREADS: Final = 1  # a graph of 100,000 rows takes minutes; recall scans meanwhile

# --- background work ----------------------------------------------------------------------------------
SUMMARIES_AT_ONCE: Final = 2
LLM_DEADLINE_S: Final = 60.0  # a summary of a few thousand tokens on a slow model
LLM_TRIES: Final = 3
LLM_BACKOFF_S: Final = 1.0  # doubled at each try, with jitter
LLM_REST_S: Final = 60.0  # after LLM_TRIES failures in a row calls rest this long
EMBED_BATCH: Final = 8  # texts a call in the background, and
EMBED_BATCH_CHARS: Final = 400  # their characters: a query that comes now waits for one call, 5 to 18 ms
ITEM_CALLS_AT_ONCE: Final = 2  # of all owners: a remote embedder's client costs the loop 2 to 4 ms a call
EMBED_QUIET_S: Final = 0.03  # without a query, before background texts are embedded
EMBED_WAIT_S: Final = 0.5  # background texts wait this long at most for queries on their way
EMBED_RETRY_S: Final = 5.0
WRITE_THRESHOLD: Final = 0.3  # importance from which a fact is written
SUMMARY_LOST_S: Final = 600.0  # a summary that is not back by then was lost in a crash: it is asked for again
RESUMED_AT_ONCE: Final = 32  # sessions woken together at opening for the summaries they waited for
SUMMARY_QUEUE_MAX: Final = 1_024  # requests waiting; one a session, so this many sessions at once

# --- queries, on the reply path ---------------------------------------------------------------------
QUERY_TRIES: Final = 5  # calls for queries that failed or came too late in a row; then
QUERY_REST_S: Final = 5.0  # recalls go by words at once, but for those that wait longer
QUERY_QUEUE_MAX: Final = 1_024  # queries that wait for the embedder; beyond it a recall goes by words
QUERIES_AT_ONCE: Final = 4  # calls for queries at a server: one that comes waits for no other's whole call
QUERY_BATCH_TEXTS: Final = 64  # a call for queries: servers take more, but then the first waits for the last
QUERY_BATCH_CHARS: Final = 4_000  # of all its texts: 0.1 s of the local embedder

# --- recall ---------------------------------------------------------------------------------------
RECALL_DEADLINE_S: Final = 0.25  # what a turn waits at most for its memories
RECALL_HITS_MAX: Final = 100
TURN_HITS: Final = 8  # hits a note may hold, before its token share cuts
LOAD_STEP_ITEMS: Final = 16  # of a partition that is read: 2 to 3 ms, then other tasks get their turn
SEARCH_INLINE_ROWS: Final = 1_000  # up to here a search takes 1 ms and a thread would cost more than it saves
HNSW_ROWS_MIN: Final = 4_000  # below it an exact scan is faster than a graph (measured)

assert 0 < COMPACT_TO < COMPACT_AT < 1
assert SUMMARY_SHARE_FIRST + RECALL_SHARE_FIRST + ENTITIES_SHARE_FIRST < 1
assert SUMMARY_SHARE_FIRST + ENTITIES_SHARE_FIRST < COMPACT_AT, "blocks alone must not fill a context"
assert MESSAGE_SHARE_MAX < 1
assert RECALL_DEADLINE_S < TURN_WAIT_S
assert RESUMED_AT_ONCE <= SUMMARY_QUEUE_MAX
assert SUMMARY_LOST_S > 2 * LLM_TRIES * LLM_DEADLINE_S, "a slow summary is not a lost one"
