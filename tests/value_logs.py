"""Two agent logs of our own, in Chinese and English, and what each of their tool calls needed from before.

A probe is a scalar argument of a tool call that an earlier message holds: (place of the call, value, messages since).
"""

import json
from typing import Any

__all__ = ["Probe", "coding_log", "probes_of", "service_log"]

Probe = tuple[int, str, int]


def call(log: list[dict[str, Any]], tool: str, arguments: dict[str, Any], result: Any) -> None:
    """Add a tool call and its result to a log."""
    id = f"call_{len(log)}"
    function = {"name": tool, "arguments": json.dumps(arguments, ensure_ascii=False)}
    log.append(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": id, "type": "function", "function": function}],
        }
    )
    content = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    log.append({"role": "tool", "tool_call_id": id, "content": content})


def say(log: list[dict[str, Any]], user: str, assistant: str = "") -> None:
    """Add what the user said and what was answered in words."""
    log.append({"role": "user", "content": user})
    if assistant:
        log.append({"role": "assistant", "content": assistant})


def probes_of(log: list[dict[str, Any]]) -> list[Probe]:
    """The probes of a log, by the place of their calls."""
    found: list[Probe] = []
    for place, message in enumerate(log):
        for one in message.get("tool_calls") or ():
            for value in scalars(json.loads(one["function"]["arguments"])):
                seen = [at for at in range(place) if value in json.dumps(log[at], ensure_ascii=False)]
                if len(value) >= 3 and seen:
                    found.append((place, value, place - seen[-1]))
    return found


def scalars(value: Any) -> list[str]:
    """The scalars of a JSON value as texts."""
    inside: list[Any] = []
    if isinstance(value, dict):
        inside = list(value.values())  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, list):
        inside = value  # pyright: ignore[reportUnknownVariableType]
    else:
        return [str(value)]
    return [text for inner in inside for text in scalars(inner)]


def order(number: str, day: str, goods: list[tuple[str, str, int]], paid: str) -> dict[str, Any]:
    """An order as a shop's tool gives it."""
    return {
        "order_id": number, "user_id": "u_lin_2088", "status": "delivered", "created_at": f"{day}T09:12:44",
        "items": [{"name": name, "item_id": item, "price": price, "options": {"color": "墨绿", "size": "XL"}}
                  for name, item, price in goods],
        "payment_method_id": paid, "tracking_id": f"SF10{number[-4:]}77", "signed_date": day,
        "warehouse": "HZ-03", "invoice": None,
    }  # fmt: skip


def service_log() -> list[dict[str, Any]]:
    """A Chinese customer-service agent: three orders, an exchange, an address, a refund, an invoice."""
    log: list[dict[str, Any]] = []
    say(log, "你好，我买的外套尺码不对，想换货。", "您好，请提供注册手机号，我先核实身份。")
    say(log, "手机号是 13718820466，姓林。")
    call(log, "find_user", {"phone": "13718820466"}, {"user_id": "u_lin_2088"})
    call(log, "get_user", {"user_id": "u_lin_2088"}, {
        "user_id": "u_lin_2088", "name": {"family": "林", "given": "知远"}, "phone": "13718820466",
        "email": "zhiyuan.lin@postbox.example", "level": "金卡会员", "points": 4820, "joined": "2026-03-02",
        "addresses": [
            {"address_id": "addr_01", "text": "杭州市西湖区文二路391号3栋502室", "default": True},
            {"address_id": "addr_02", "text": "宁波市鄞州区天童南路666号12幢801室", "default": False},
        ],
        "payment_methods": {
            "alipay_330192": {"source": "alipay", "id": "alipay_330192"},
            "card_880417": {"source": "card", "brand": "银联", "last_four": "5120", "id": "card_880417"},
            "gift_771029": {"source": "gift", "balance": 268, "id": "gift_771029"},
        },
        "orders": ["DD20310704118", "DD20310716552", "DD20310722903"],
    })  # fmt: skip
    say(log, "就是七月十六号左右那单，买了外套和围巾。")
    orders = {
        "DD20310704118": order(
            "DD20310704118", "2031-07-06", [("保温杯", "sku_55102", 129)], "alipay_330192"
        ),
        "DD20310716552": order(
            "DD20310716552",
            "2031-07-19",
            [("冲锋衣", "sku_61033", 899), ("羊毛围巾", "sku_61877", 239)],
            "card_880417",
        ),
        "DD20310722903": order("DD20310722903", "2031-07-25", [("登山杖", "sku_70415", 318)], "gift_771029"),
    }
    for number, found in orders.items():
        call(log, "get_order", {"order_id": number}, found)
    say(
        log,
        "对，冲锋衣要换大一号，围巾不动。",
        "为您查一下冲锋衣的其他尺码。请问颜色需要保持墨绿吗？同时请确认退货由原地址上门取件，取件时间可选明后两天。",
    )
    say(log, "颜色还是墨绿，别的尺码有货吗？")
    variants = [
        {"item_id": f"sku_6104{n}", "color": color, "size": size, "stock": stock, "price": 899 + 20 * n}
        for n, (color, size, stock) in enumerate(
            [
                ("墨绿", "XXL", 6),
                ("墨绿", "L", 0),
                ("沙色", "XXL", 12),
                ("沙色", "XL", 3),
                ("黑色", "XXL", 9),
                ("黑色", "M", 4),
            ]
        )
    ]
    call(log, "list_variants", {"name": "冲锋衣"}, {"product_id": "prod_30877", "variants": variants})
    say(log, "那就换 XXL 墨绿的。", "XXL 墨绿有货 6 件，价格 899 元，无需补差价。确认换货吗？")
    say(log, "确认。")
    call(
        log, "exchange", {"order_id": "DD20310716552", "item_id": "sku_61033", "new_item_id": "sku_61040",
                          "payment_method_id": "card_880417"},
        {"exchange_id": "HH-8830214", "status": "requested", "difference": 0, "pickup_date": "2031-08-02"},
    )  # fmt: skip
    say(
        log,
        "新衣服寄到我宁波的地址吧，最近都在那边出差，早上九点以后才有人收。",
        "好的，马上为您更改收货地址，请稍等。",
    )
    say(log, "嗯，尽快。")
    call(
        log, "set_address", {"exchange_id": "HH-8830214", "address_id": "addr_02"},
        {"exchange_id": "HH-8830214", "address_id": "addr_02", "carrier": "顺丰", "arrives": "2031-08-05"},
    )  # fmt: skip
    say(
        log,
        "另外登山杖我不想要了，能退吗？",
        "登山杖在七天无理由期内，可以退。退款 318 元将按原路退回礼品卡，是否同意？",
    )
    say(log, "可以的，原路退就行。")
    call(
        log, "refund", {"order_id": "DD20310722903", "item_id": "sku_70415", "payment_method_id": "gift_771029"},
        {"refund_id": "TK-5520917", "amount": 318, "days": 3},
    )  # fmt: skip
    say(log, "第一单的保温杯能补开发票吗？抬头写 杭州云栈科技有限公司，税号 91330106MA2K8T7X3Q。")
    call(
        log, "make_invoice", {"order_id": "DD20310704118", "title": "杭州云栈科技有限公司",
                              "tax_id": "91330106MA2K8T7X3Q", "email": "zhiyuan.lin@postbox.example"},
        {"invoice_id": "FP-66120358", "sent": True},
    )  # fmt: skip
    say(log, "退款进度帮我看一下，还有换货的物流。")
    call(
        log, "refund_status", {"refund_id": "TK-5520917"}, {"refund_id": "TK-5520917", "status": "processing"}
    )
    call(
        log,
        "exchange_status",
        {"exchange_id": "HH-8830214"},
        {"status": "picked_up", "tracking_id": "SF1099317740"},
    )
    say(log, "好，到账了发短信到我手机上。")
    call(log, "notify", {"phone": "13718820466", "refund_id": "TK-5520917"}, "ok")
    return log


def coding_log() -> list[dict[str, Any]]:
    """An English coding agent: an issue, a commit, a failing test, a pull request, a release."""
    log: list[dict[str, Any]] = []
    say(log, "Please fix issue 4417 in harbor-mirror/tidewater, the uploads time out since last week.")
    call(log, "get_issue", {"repository": "harbor-mirror/tidewater", "number": 4417}, {
        "number": 4417, "title": "Uploads above 64 MB time out", "author": "pblume", "labels": ["bug", "uploads"],
        "milestone": "2.14.1", "assignee": "rkovacs", "created_at": "2031-05-04T10:22:09",
        "body": "Since 2.14.0 uploads above 64 MB fail after 30 seconds. First bad commit 9f3c2ab71d. See "
                "tidewater/net/upload_stream.py and the trace TR-77120-QX.",
    })  # fmt: skip
    call(log, "git_show", {"commit": "9f3c2ab71d"}, {
        "commit": "9f3c2ab71d", "parent": "5be0417cc2", "author": "mdupont", "date": "2031-04-27",
        "files": [{"path": "tidewater/net/upload_stream.py", "added": 41, "removed": 17, "blob": "c0ffe1d29a"},
                  {"path": "tidewater/net/retry_policy.py", "added": 8, "removed": 2, "blob": "77ab10ee43"},
                  {"path": "tests/net/test_upload_stream.py", "added": 22, "removed": 0, "blob": "1d20be9931"}],
    })  # fmt: skip
    call(
        log,
        "read_file",
        {"path": "tidewater/net/upload_stream.py", "commit": "9f3c2ab71d"},
        "CHUNK_BYTES = 1_048_576\nREAD_TIMEOUT_S = 30\n\n\ndef upload(stream, target):\n    for number, chunk in "
        "enumerate(read(stream, CHUNK_BYTES)):\n        send(target, number, chunk, timeout=READ_TIMEOUT_S)\n"
        + "    # the timeout is of the whole upload and not of one chunk, see the note in the design document\n"
        * 6,
    )
    say(
        log,
        "Make the timeout per chunk. Branch off release/2.14, not main.",
        "The timeout is passed once per upload. I will give each chunk its own deadline and add a test that uploads "
        "ninety chunks through a slow fake target. I will branch off release/2.14 as you asked.",
    )
    say(log, "Good. Name the branch fix/upload-deadline.")
    call(log, "git_branch", {"name": "fix/upload-deadline", "base": "release/2.14"},
         {"branch": "fix/upload-deadline", "base": "release/2.14", "head": "5be0417cc2"})  # fmt: skip
    call(log, "run_tests", {"path": "tests/net/test_upload_stream.py"}, {
        "run_id": "run-88213", "passed": 31, "failed": 2, "duration": "14.2 s",
        "failures": [
            {"test": "test_slow_target", "line": 188, "error": "DeadlineExceeded after 30.0 s"},
            {"test": "test_resume_token", "line": 240, "error": "KeyError: 'resume_token'"},
        ],
        "workers": [{"name": f"runner-{n:02}", "seconds": 3 + n, "cached": n * 11} for n in range(1, 9)],
    })  # fmt: skip
    say(
        log,
        "What does the second failure say, and is it ours?",
        "test_resume_token fails with a KeyError. It failed before the change as well, so it is a fault of the fixture "
        "and not of this branch. I suggest a separate issue for it.",
    )
    say(log, "Yes, open one and assign rkovacs.")
    call(log, "open_issue", {"repository": "harbor-mirror/tidewater", "title": "test_resume_token fails",
                             "assignee": "rkovacs"},
         {"number": 4431, "url": "https://git.example/harbor-mirror/tidewater/issues/4431"})  # fmt: skip
    call(log, "edit_file", {"path": "tidewater/net/upload_stream.py", "branch": "fix/upload-deadline"},
         {"commit": "e41a90b7f5", "changed": 12})  # fmt: skip
    call(log, "run_tests", {"path": "tests/net/test_upload_stream.py"}, {
        "run_id": "run-88240", "passed": 32, "failed": 1, "duration": "11.9 s",
        "failures": [{"test": "test_resume_token", "line": 240, "error": "KeyError: 'resume_token'"}],
        "workers": [{"name": f"runner-{n:02}", "seconds": 2 + n, "cached": n * 12} for n in range(1, 9)],
    })  # fmt: skip
    say(log, "Now the pull request please, reviewers mdupont and hokafor.")
    call(log, "open_pull_request", {"branch": "fix/upload-deadline", "base": "release/2.14", "closes": 4417,
                                    "reviewers": ["mdupont", "hokafor"]},
         {"number": 4432, "head": "e41a90b7f5", "checks": ["lint", "unit", "wheel-3.11", "wheel-3.12"]})  # fmt: skip
    say(log, "How is the wheel check doing?")
    call(log, "get_checks", {"commit": "e41a90b7f5"}, {
        "commit": "e41a90b7f5",
        "checks": [{"name": name, "status": status, "job_id": f"job-{51000 + 7 * n}", "seconds": 40 + n}
                   for n, (name, status) in enumerate([("lint", "passed"), ("unit", "passed"), ("wheel-3.11", "failed"),
                                                       ("wheel-3.12", "passed"), ("docs", "skipped")])],
    })  # fmt: skip
    call(log, "get_job_log", {"job_id": "job-51014"},
         "collecting build 1.2.1\nusing cache key whl-cp311-a7d1\n" + "copying tidewater/net to build/lib\n" * 14
         + "error: file digest mismatch for zlib-ng 2.1.6, artifact ART-0093184\n")  # fmt: skip
    say(log, "Drop the cache of that artifact and run the job again.")
    call(log, "drop_artifact", {"artifact": "ART-0093184"}, {"dropped": True})
    call(
        log,
        "run_job",
        {"job_id": "job-51014", "commit": "e41a90b7f5"},
        {"job_id": "job-51014", "status": "passed"},
    )
    say(log, "Merge it, close the issue, and tag the milestone's version from the merge.")
    call(log, "merge", {"number": 4432, "base": "release/2.14"}, {"merged": True, "commit": "b70d55c1e8"})
    call(log, "close_issue", {"repository": "harbor-mirror/tidewater", "number": 4417}, {"state": "closed"})
    call(log, "tag", {"name": "2.14.1", "commit": "b70d55c1e8"}, {"tag": "2.14.1"})
    say(log, "And tell pblume, with the trace he gave, that it is fixed.")
    call(log, "comment", {"number": 4417, "mention": "pblume", "trace": "TR-77120-QX"}, {"id": 90017733})
    return log
