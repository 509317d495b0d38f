"""Items of the Responses API as messages of a session, and back again; pure.

What one answer of a model is made of (reasoning, calls, text) becomes one message, so that it leaves a context
together or not at all; what answers a call becomes a tool message. The words stand where messages have them, in
content and arguments, so that they are counted, summarised and forgotten as all words are. What a message has no
place for (ids, annotations, reasoning, hosted calls) stands beside it under the key `items`: what `items_of` then
gives is, field by field, what came in.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

__all__ = ["ITEMS", "Item", "as_mapping", "items_of", "messages_of", "only_chat"]

Item: TypeAlias = dict[str, Any]

ITEMS: Final = "items"
LIFTED: Final = "lifted"  # of an item: which words of it stand in the message
ABSENT: Final = "absent"  # of an item: usual fields that it does not have
ROLES: Final = ("user", "system", "developer")
CALL_KEYS: Final = ("call_id", "name", "arguments")
USUAL: Final[Mapping[str, Item]] = {
    "message": {"role": "assistant", "status": "completed"},
    "function_call": {"status": "completed"},
    "output_text": {"annotations": [], "logprobs": []},
}


def as_mapping(given: object) -> Item:
    """An item or a message as a dictionary of its own: mappings, and the objects of the openai package.

    Raises:
        TypeError: It is neither.
    """
    dump = getattr(given, "model_dump", None)
    if callable(dump):
        given = dump(exclude_unset=True)
    if not isinstance(given, Mapping):
        raise TypeError(f"an item must be a mapping, not {type(given).__name__}")
    return dict(cast("Mapping[str, Any]", given))


def messages_of(items: Iterable[Mapping[str, Any]]) -> list[Item]:
    """The messages of these items, in order."""
    messages: list[Item] = []
    answer: list[Item] = []
    for given in items:
        item = dict(given)
        other = _said(item) or _result(item)
        if other is None:
            answer.append(item)
            continue
        if answer:
            messages.append(_answer(answer))
            answer = []
        messages.append(other)
    return [*messages, _answer(answer)] if answer else messages


def items_of(messages: Iterable[Mapping[str, Any]]) -> list[Item]:
    """The items of these messages, in order; of those that never were items, the simplest that say the same."""
    return [item for message in messages for item in _items(message)]


def only_chat(message: Mapping[str, Any]) -> Item:
    """The message without what only the Responses API has a place for."""
    return {key: value for key, value in message.items() if key != ITEMS}


# --- from items ---------------------------------------------------------------------------------------


def _said(item: Item) -> Item | None:
    """The message of an item that somebody said who is not the model."""
    if item.get("role") not in ROLES:
        return None
    content = item.get("content")
    parts = _chat_parts(content)
    message: Item = {"role": item["role"], "content": parts}
    if _items(message) == [item]:
        return message
    rest = {key: value for key, value in item.items() if key not in ("role", "content")}
    if _item_content(parts) != content:
        rest["content"] = content
    return {**message, ITEMS: [rest]}


def _result(item: Item) -> Item | None:
    """The message of an item that answers a call."""
    kind, call_id = str(item.get("type", "")), item.get("call_id", item.get("approval_request_id"))
    if not isinstance(call_id, str) or not (kind.endswith("_output") or kind == "mcp_approval_response"):
        return None
    output = item.get("output")
    words = output if isinstance(output, str) else _texts(output)
    message: Item = {"role": "tool", "tool_call_id": call_id, "content": words}
    if _items(message) == [item]:
        return message
    rest = dict(item)
    if isinstance(output, str):
        del rest["output"]
        rest[LIFTED] = "output"
    return {**message, ITEMS: [rest]}


def _answer(group: Sequence[Item]) -> Item:
    """The message of what the model answered at once."""
    texts = [text for item in group for text in (_text(item),) if text is not None]
    calls = [call for item in group for call in (_call(item),) if call is not None]
    message: Item = {"role": "assistant", "content": "\n\n".join(texts) or None}
    if not calls:
        message["content"] = message["content"] or ""
    else:
        message["tool_calls"] = calls
    if _items(message) == list(group):
        return message
    return {**message, ITEMS: [_rest(item, alone=len(texts) == 1) for item in group]}


def _text(item: Item) -> str | None:
    """The words of a message item; None of any other."""
    if item.get("role") != "assistant":
        return None
    content = item.get("content")
    return content if isinstance(content, str) else _texts(content)


def _call(item: Item) -> Item | None:
    """The call an item makes, that a result is to come for."""
    kind = str(item.get("type", ""))
    call_id = item.get("id") if kind == "mcp_approval_request" else item.get("call_id")
    if not isinstance(call_id, str) or kind.endswith("_output"):
        return None
    function = {"name": str(item.get("name") or kind), "arguments": str(item.get("arguments") or "")}
    return {"id": call_id, "type": "function", "function": function}


def _rest(item: Item, *, alone: bool) -> Item:
    """The item without the words that stand in its message.

    Args:
        alone: Whether no other item of the message has words.
    """
    kind = str(item.get("type", ""))
    if kind == "function_call" and all(isinstance(item.get(key), str) for key in CALL_KEYS):
        return {LIFTED: "call", **_unusual({key: item[key] for key in item if key not in CALL_KEYS}, kind)}
    content = item.get("content")
    if alone and item.get("role") == "assistant" and isinstance(content, str):
        return {LIFTED: "content", **{key: value for key, value in item.items() if key != "content"}}
    if alone and kind == "message" and _is_one_text(content):
        only = cast("Sequence[Item]", content)[0]
        part = _unusual({key: value for key, value in only.items() if key != "text"}, "output_text")
        return {LIFTED: "text", **_unusual({**item, "content": part}, kind)}
    return item


def _unusual(fields: Item, kind: str) -> Item:
    """The fields without those that are as usual; what is usual and not there is named."""
    usual = USUAL[kind]
    absent = [key for key in usual if key not in fields]
    found = {key: value for key, value in fields.items() if key not in usual or usual[key] != value}
    return {**found, **({ABSENT: absent} if absent else {})}


# --- to items -----------------------------------------------------------------------------------------


def _items(message: Mapping[str, Any]) -> list[Item]:
    rests = cast("Sequence[Item] | None", message.get(ITEMS))
    role = message.get("role")
    if role == "assistant":
        return list(_restored(message, rests)) if rests else _answered(message)
    if role == "tool":
        rest = rests[0] if rests else {"type": "function_call_output", LIFTED: "output"}
        item = {key: value for key, value in rest.items() if key != LIFTED}
        if LIFTED in rest:
            item |= {"call_id": message["tool_call_id"], "output": message["content"]}
        return [item]
    said = {"role": role, "content": _item_content(message.get("content"))}
    return [{**said, **rests[0]}] if rests else [said]


def _answered(message: Mapping[str, Any]) -> list[Item]:
    """The items of an assistant message of chat completions."""
    text = message.get("content")
    words = text if isinstance(text, str) else _texts(text)
    found: list[Item] = [{"role": "assistant", "content": words}] if words else []
    return [*found, *({"type": "function_call", **_fields(call)} for call in message.get("tool_calls") or ())]


def _restored(message: Mapping[str, Any], rests: Sequence[Item]) -> Iterator[Item]:
    calls = iter(cast("Sequence[Item]", message.get("tool_calls") or ()))
    words = message.get("content") or ""
    for rest in rests:
        item = {key: value for key, value in rest.items() if key not in (LIFTED, ABSENT)}
        call = next(calls, None) if rest.get(LIFTED) == "call" or _call(item) else None
        match rest.get(LIFTED):
            case "call" if call is not None:
                yield {**_usual("function_call", rest), **item, **_fields(call)}
            case "content":
                yield {**item, "content": words}
            case "text":
                part = {key: value for key, value in item["content"].items() if key != ABSENT}
                usual = _usual("output_text", item["content"])
                yield {**_usual("message", rest), **item, "content": [{**usual, **part, "text": words}]}
            case _:
                yield item


def _usual(kind: str, rest: Item) -> Item:
    absent = cast("Sequence[str]", rest.get(ABSENT, ()))
    return {key: value for key, value in USUAL[kind].items() if key not in absent}


def _fields(call: Item) -> Item:
    function = call["function"]
    return {"call_id": call["id"], "name": function["name"], "arguments": function.get("arguments") or ""}


# --- content ------------------------------------------------------------------------------------------


def _listed(content: object) -> Sequence[Any] | None:
    return cast("Sequence[Any]", content) if isinstance(content, (list, tuple)) else None


def _is_one_text(content: Any) -> bool:
    parts = _listed(content) or ()
    return len(parts) == 1 and parts[0].get("type") == "output_text" and isinstance(parts[0].get("text"), str)


def _texts(content: object) -> str:
    """The words of parts of any kind."""
    parts = _listed(content) or ()
    fields = [cast("Item", part) for part in parts if isinstance(part, Mapping)]
    found = (part.get("text", part.get("refusal")) for part in fields)
    return "\n".join(text for text in found if isinstance(text, str))


def _chat_parts(content: Any) -> Any:
    """Content of an item as content of a message; parts that chat completions do not know stay as they are."""
    parts = _listed(content)
    return content if parts is None else [_chat_part(part) for part in parts]


def _item_content(content: Any) -> Any:
    parts = _listed(content)
    return content if parts is None else [_item_part(part) for part in parts]


def _chat_part(part: Any) -> Any:
    match part:
        case {"type": "input_text", "text": str(text), **rest} if not rest:
            return {"type": "text", "text": text}
        case {"type": "input_image", "image_url": str(url), **rest} if rest.keys() <= {"detail"}:
            return {"type": "image_url", "image_url": {"url": url, **rest}}
        case {"type": "input_audio", "input_audio": Mapping()}:
            return part
        case {"type": "input_file", **rest} if rest.keys() <= {"file_id", "file_data", "filename"}:
            return {"type": "file", "file": rest}
        case _:
            return part


def _item_part(part: Any) -> Any:
    match part:
        case {"type": "text", "text": text}:
            return {"type": "input_text", "text": text}
        case {"type": "image_url", "image_url": {"url": url, **rest}}:
            return {"type": "input_image", "image_url": url, **rest}
        case {"type": "file", "file": {**rest}}:
            return {"type": "input_file", **rest}
        case _:
            return part
