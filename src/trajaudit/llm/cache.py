"""The response cache: every answer is written down before it is used, and no stored answer is asked for again.

One line a call in ``calls.jsonl``, keyed by the hash of the model's spec and every field of the request (a key without
the temperature or the repeat index returns one sample as if it were five). The whole reply is kept, also of calls whose
text later fails to parse. A stored answer carries the usage and latency of the call that got it, so that a resumed run
writes the same verdicts as one that was never interrupted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from trajaudit._fields import Fields, Json, RecordError, loads
from trajaudit._log import AppendLog
from trajaudit.llm.chat import Chat, Completion, ContextOverflow, Request
from trajaudit.verdict import Usage

_REJECTED = ""
_KEYS = ("key", "text", "finish_reason", "refusal", "usage", "latency_s", "logprobs", "raw")


class Cached:
    """A ``Chat`` that answers from ``calls.jsonl`` where it can and from ``chat`` where it must.

    Two tasks that ask the same at the same time send one request. A request that is under way when its asker is
    cancelled (a spent budget ends a run) is finished and stored; ``close`` waits for it.

    Args:
        chat: the model that answers what is not stored.
        path: the ``calls.jsonl`` of the run; one process at a time may hold it.
        others: those of other runs, which are read and never written: an answer that any run has paid for is not paid
            for again by another one (a longer prefix, a sixth vote). Read at the first request that is not stored.

    Raises:
        LogLocked, RecordError: see ``AppendLog``; also a line that is not a call, or a second one of the same key.
    """

    def __init__(self, chat: Chat, path: str | Path, others: Iterable[Path] = ()) -> None:
        self.chat, self.name, self.spec, self.window = chat, chat.name, chat.spec, chat.window
        self._log = AppendLog(path)
        self._others = [other for other in others if other != Path(path)]
        self._asked: dict[str, asyncio.Task[Completion]] = {}
        try:
            self._stored = _index(self._log.entries)
        except BaseException:
            self._log.close()
            raise
        self._log.entries = []

    def count_tokens(self, text: str) -> int:
        return self.chat.count_tokens(text)

    async def complete(self, request: Request) -> Completion:
        key = request.key(self.spec)
        if key not in self._stored and self._others:
            self._read_others()
        if key in self._stored:
            return self._stored[key]
        task = self._asked.get(key)
        if task is not None:
            return replace(await asyncio.shield(task), stored=True)
        task = self._asked[key] = asyncio.create_task(self._ask(key, request))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())  # seen, if nobody awaits it any more
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Wait for what is under way, then release the file and the model."""
        await asyncio.gather(*self._asked.values(), return_exceptions=True)
        self._log.close()
        await self.chat.close()

    async def _ask(self, key: str, request: Request) -> Completion:
        try:
            completion = await self._complete(request)
            self._log.append(_to_json(key, completion))
            self._stored[key] = replace(completion, stored=True)
            return completion
        finally:
            del self._asked[key]

    def _read_others(self) -> None:
        """Take in what other runs have stored; a last line that is not whole is theirs to repair."""
        for path in self._others:
            with open(path, "rb") as file:
                whole = [(f"{path}:{n}", raw) for n, raw in enumerate(file, start=1) if raw.endswith(b"\n")]
            self._stored = _index([(where, loads(raw, where)) for where, raw in whole]) | self._stored
        self._others = []

    async def _complete(self, request: Request) -> Completion:
        """Ask the model; a reply to a prompt that the server cut is kept as well, under no key: it answers nothing."""
        try:
            return await self.chat.complete(request)
        except ContextOverflow as error:
            if error.completion is not None:
                self._log.append(_to_json(_REJECTED, error.completion))
            raise


def _index(entries: list[tuple[str, Json]]) -> dict[str, Completion]:
    stored: dict[str, Completion] = {}
    first: dict[str, str] = {}
    for where, obj in entries:
        key, completion = _from_json(obj, where)
        if key == _REJECTED:
            continue
        if key in stored:
            raise RecordError(f"{where}: key: the same call is already stored at {first[key]}")
        stored[key], first[key] = completion, where
    return stored


def _to_json(key: str, completion: Completion) -> Json:
    kept = {name: getattr(completion, name) for name in _KEYS if name != "key"}
    return {"key": key, **kept, "usage": completion.usage.to_json()}


def _from_json(obj: Json, where: str) -> tuple[str, Completion]:
    fields = Fields(obj, f"{where}: ", _KEYS)
    completion = Completion(
        fields.need("text", str),
        fields.need("finish_reason", str),
        Usage.from_json(fields.need("usage", dict), fields.at("usage")),
        fields.need("latency_s", float),
        fields.need("raw", dict),
        fields.maybe("refusal", str),
        fields.obj.get("logprobs"),
        stored=True,
    )
    return fields.need("key", str), completion
