"""The HTTP server: REST, live events, a page for people, and a proxy that gives any OpenAI client a memory.
Needs `actormem[server]`.

Read on in `application`, where it is put together; `door` says who comes in, the two `handling` modules what is done
for him, `proxy` how a chat completion goes through; `pages` hands out the files of the page at `/`.

Example: beside `actormem serve memory/ --upstream https://api.openai.com/v1` any client of OpenAI's has a memory; it
may send its whole history, or the newest message alone.

    from openai import AsyncOpenAI

    async def main(base_url="http://127.0.0.1:8377/v1"):
        who = {"X-Actormem-User": "ada", "X-Actormem-Session": "s-1"}
        async with AsyncOpenAI(base_url=base_url, default_headers=who) as client:
            for words in ("I moved to Hangzhou.", "Where do I live?"):
                message = {"role": "user", "content": words}
                answer = await client.chat.completions.create(model="gpt-4o", messages=[message])
                print(answer.choices[0].message.content)
"""
