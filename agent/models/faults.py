"""The errors of a model server as sentences that say what to do."""

from __future__ import annotations

import re
from typing import Any

from agent.models.types import ModelError

_MEMORY = re.compile(
    r"out of memory|more system memory|failed to allocate|cudamalloc|bad_alloc|cannot allocate|unable to allocate", re.I
)
_CONTEXT = re.compile(r"exceed\w*\W.{0,40}context|context (?:size|length|window)|maximum context|too many tokens", re.I)
_NOT_FOUND = re.compile(r"model.{0,80}(?:not found|does not exist|not loaded)|try pulling|no such model", re.I)
LOADING = re.compile(r"loading model|model is loading|still loading", re.I)


def message_of(body: Any, raw: bytes = b"") -> str:
    """The server's own words in an error reply, at most 300 characters."""
    found: Any = body
    for key in ("error", "detail", "message"):
        if isinstance(found, dict) and key in found:
            found = found[key]
    if isinstance(found, dict):
        found = found.get("message") or found.get("error_type") or found
    text = found if isinstance(found, str) else str(found if found is not None else raw[:300].decode("utf-8", "replace"))
    return " ".join(text.split())[:300]


def of_status(provider: str, url: str, model: str, key_env: str, status: int, said: str) -> ModelError:
    """The error for an HTTP status (or a 200 that holds an error)."""
    where = f"The model server at {url}"
    if status in (401, 403):
        return unauthorised(where, key_env, said)
    if _MEMORY.search(said):
        hint = "Choose a smaller model, lower models.context_window, or close other programs."
        return ModelError("memory", f"{where} has not enough memory for {model!r}: {said}", hint)
    if _CONTEXT.search(said):
        hint = "Raise models.context_window and the server's own window, or give that stage less to read."
        return ModelError("context", f"The prompt does not fit the window of {model!r}: {said}", hint)
    if _NOT_FOUND.search(said) or (status == 404 and provider == "ollama"):
        return not_pulled(provider, url, model)
    if status == 404:
        hint = "Check models.base_url and models.provider: this address does not speak the protocol that is configured."
        return ModelError("protocol", f"{where} knows no such path (404): {said}", hint)
    if status == 429:
        hint = "Lower models.concurrency, or wait until the server has time."
        return ModelError("unreachable", f"{where} refuses more requests for now (429): {said}", hint)
    if status in (502, 503, 504):
        hint = "Lower models.concurrency if its queue is full; otherwise look at the server's own log."
        return ModelError("unreachable", f"{where} is not able to answer ({status}): {said}", hint)
    return ModelError("protocol", f"{where} answered with an error ({status}): {said}", "Look at the server's own log.")


def unauthorised(where: str, key_env: str, said: str) -> ModelError:
    """The server wants a key, or another one. Names the variable, never the key."""
    if key_env:
        hint = f"Set the environment variable {key_env} to a key that this server accepts."
    else:
        hint = "Set models.api_key_env to the name of an environment variable that holds the key."
    return ModelError("unauthorised", f"{where} refuses access: {said or 'unauthorised'}", hint)


def key_missing(key_env: str) -> ModelError:
    """The configuration names a variable that is not set."""
    text = f"The environment variable {key_env} (models.api_key_env) is not set."
    return ModelError("unauthorised", text, f"Export {key_env} with the server's key, or clear models.api_key_env.")


def not_pulled(provider: str, url: str, model: str) -> ModelError:
    """The server does not have the model."""
    if provider == "ollama":
        return ModelError("not_pulled", f"Ollama at {url} does not have the model {model!r}.", f"ollama pull {model}")
    hint = "Load it in that server, or name one of its models in models.coding and models.reasoning."
    return ModelError("not_pulled", f"The model server at {url} does not have the model {model!r}.", hint)


def unreachable(provider: str, url: str, why: str) -> ModelError:
    """No server listens there, or the connection broke at each try."""
    if provider == "ollama":
        hint = "Start it with 'ollama serve'; if it runs on another host or in a container, set models.base_url there."
    elif provider == "embedded":
        hint = "The model's own log may say why; 'cra models check' tries it alone."
    else:
        hint = "Start the server, or correct models.base_url."
    return ModelError("unreachable", f"No model server answers at {url} ({why}).", hint)


def cut_off(url: str, why: str) -> ModelError:
    """A server answered, and the connection broke in the middle at each try."""
    hint = "Look at the server's own log: it may have crashed, or run out of memory."
    return ModelError("unreachable", f"The model server at {url} answered, but was cut off ({why}).", hint)


def sent_on(url: str, status: int, place: str) -> ModelError:
    """The server names another address. It is not followed: prompts go to the servers that the person named."""
    text = f"The model server at {url} redirects to {place} ({status}), which is not configured."
    return ModelError("protocol", text, "If that is the right server, name it in models.base_url.")


def too_slow(url: str, seconds: float) -> ModelError:
    """Connected, but no byte of an answer came in time."""
    text = f"The model server at {url} accepted the request but sent nothing for {seconds:.0f} seconds."
    hint = "It may still be loading the model: wait and try again, or choose a smaller model."
    return ModelError("unreachable", text, hint)


def not_json(url: str, raw: bytes) -> ModelError:
    """A reply that is not the protocol."""
    start = " ".join(raw[:80].decode("utf-8", "replace").split())
    hint = "Check models.base_url and models.provider: something else (a proxy?) answers there."
    return ModelError("protocol", f"The reply of {url} is not what a model server sends: {start!r}", hint)


def never_ends(url: str, seconds: float) -> ModelError:
    """A reply that arrives too slowly to end."""
    text = f"The reply of {url} began and did not end within {seconds:.0f} seconds."
    return ModelError("protocol", text, "Look at the server's own log, or check models.base_url.")


def too_large(url: str, limit: int) -> ModelError:
    """A reply that is longer than any answer."""
    text = f"The reply of {url} is larger than {limit >> 20} MiB and was not read."
    return ModelError("protocol", text, "Check models.base_url: this is not a model's answer.")


def no_http_proxy(address: str) -> ModelError:
    """The environment names a proxy of another kind."""
    text = f"The environment names {address!r} as the proxy, which is no address of an HTTP proxy."
    return ModelError("unreachable", text, "Set HTTPS_PROXY or HTTP_PROXY to one, or name the server in NO_PROXY.")


def no_infill(model: str, said: str) -> ModelError:
    """The server or its model cannot fill in the middle; callers ask with a marked gap instead."""
    text = f"{model!r} cannot fill a gap in code: {said}"
    return ModelError("no_infill", text, "Choose a model with fill-in-the-middle tokens, such as qwen2.5-coder.")
