"""The JSON that real model servers send: OpenAI-style servers, Ollama, decision endpoints."""

from __future__ import annotations

import json
import math
from typing import Any

from tests.fakes.script import Answer, RecordedCall

CHAT = "/v1/chat/completions"
OLLAMA = "/api/chat"
DECIDE = "/v1/systemone"
INFILL = "/infill"
OLLAMA_GENERATE = "/api/generate"
ASKING = (CHAT, OLLAMA, DECIDE, INFILL, OLLAMA_GENERATE)


def count_tokens(text: str) -> int:
    """The scripted tokenizer: four characters a token, rounded up."""
    return -(-len(text) // 4)


def parse_call(path: str, body: dict[str, Any]) -> tuple[str, str]:
    """System prompt and prompt of a request."""
    if path == DECIDE:
        state = body.get("state", "")
        questions = body.get("questions") or {}
        asked = "\n".join(str(q.get("instructions", "")) for q in questions.values())
        return "", f"{state if isinstance(state, str) else repr(state)}\n{asked}"
    if path == INFILL:
        return "", f"{body.get('input_prefix', '')}<gap>{body.get('input_suffix', '')}"
    if path == OLLAMA_GENERATE:
        return "", f"{body.get('prompt', '')}<gap>{body.get('suffix', '')}"
    messages = body.get("messages") or []
    system = "\n".join(m["content"] for m in messages if m.get("role") == "system")
    return system, "\n".join(m["content"] for m in messages if m.get("role") != "system")


def reply_to(call: RecordedCall, answer: Answer, kind: str) -> dict[str, Any]:
    """The body of a successful reply in the protocol of the call's path."""
    if call.path == DECIDE:
        return _decision(call, answer)
    if call.path == INFILL:
        return _infill(call, answer)
    if call.path == OLLAMA_GENERATE:
        return _generated(call, answer)
    return _ollama(call, answer) if call.path == OLLAMA else _openai(call, answer, kind)


def error_body(path: str, status: int, message: str) -> dict[str, Any]:
    """An error as the path's protocol words it."""
    if path.startswith("/api/"):
        return {"error": message}
    return {"error": {"message": message, "type": "error", "code": status}}


def p_yes_of(answer: Answer) -> float:
    """The probability of yes that an answer stands for."""
    if answer.p_yes is not None:
        return answer.p_yes
    word = answer.text.strip().strip('"').lower()
    return 0.9 if word.startswith("yes") else 0.1


def top_logprobs(p_yes: float) -> list[dict[str, Any]]:
    """One token's alternatives: each word split over two spellings, and five percent for something else."""
    mass = [("yes", p_yes * 0.8), ("Yes", p_yes * 0.2), ("no", (1 - p_yes) * 0.8), (" no", (1 - p_yes) * 0.2)]
    mass = [*sorted(mass, key=lambda entry: -entry[1]), ("maybe", 0.05 / 0.95)]
    return [{"token": token, "logprob": math.log(m * 0.95)} for token, m in mass if m > 0]


def _tokens(call: RecordedCall, answer: Answer) -> tuple[int, int]:
    prompt = count_tokens(call.text) if answer.prompt_tokens is None else answer.prompt_tokens
    reply = count_tokens(answer.text) if answer.completion_tokens is None else answer.completion_tokens
    return prompt, reply


def _logprobs(answer: Answer) -> list[dict[str, Any]]:
    top = top_logprobs(p_yes_of(answer))
    return [{"token": answer.text[:12], "logprob": top[0]["logprob"], "top_logprobs": top}]


def _openai(call: RecordedCall, answer: Answer, kind: str) -> dict[str, Any]:
    prompt, reply = _tokens(call, answer)
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if answer.thinking:
        message["reasoning_content"] = answer.thinking
    choice: dict[str, Any] = {"index": 0, "finish_reason": answer.finish, "message": message}
    if call.body.get("logprobs") and answer.logprobs:
        choice["logprobs"] = {"content": _logprobs(answer)}
    body: dict[str, Any] = {
        "id": f"chatcmpl-{call.index}",
        "object": "chat.completion",
        "model": call.model,
        "choices": [choice],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": reply,
            "total_tokens": prompt + reply,
            "prompt_tokens_details": {"cached_tokens": answer.cached_tokens},
        },
    }
    if kind == "llama":
        body["timings"] = {"cache_n": answer.cached_tokens, "prompt_n": prompt - answer.cached_tokens}
    return body


def _ollama(call: RecordedCall, answer: Answer) -> dict[str, Any]:
    prompt, reply = _tokens(call, answer)
    message = {"role": "assistant", "content": answer.text}
    if answer.thinking:
        message["thinking"] = answer.thinking
    body: dict[str, Any] = {
        "model": call.model,
        "created_at": "2026-01-01T00:00:00Z",
        "message": message,
        "done": True,
        "done_reason": answer.finish,
        "total_duration": 5_000_000,
        "load_duration": int(answer.load_ms * 1e6),
        "prompt_eval_count": prompt,
        "eval_count": reply,
    }
    if call.body.get("logprobs") and answer.logprobs:
        body["logprobs"] = _logprobs(answer)
    return body


def _infill(call: RecordedCall, answer: Answer) -> dict[str, Any]:
    prompt, reply = _tokens(call, answer)
    return {
        "content": answer.text,
        "stop_type": "limit" if answer.finish == "length" else "eos",
        "tokens_evaluated": prompt,
        "tokens_predicted": reply,
        "timings": {"cache_n": answer.cached_tokens, "prompt_n": prompt - answer.cached_tokens},
    }


def _generated(call: RecordedCall, answer: Answer) -> dict[str, Any]:
    prompt, reply = _tokens(call, answer)
    return {
        "model": call.model,
        "response": answer.text,
        "done": True,
        "done_reason": answer.finish,
        "prompt_eval_count": prompt,
        "eval_count": reply,
    }


def _decision(call: RecordedCall, answer: Answer) -> dict[str, Any]:
    questions = call.body.get("questions") or {}
    p_yes = p_yes_of(answer)
    return {
        "model": call.model,
        "answers": {key: {"type": "noul", "noul": p_yes, "confidence": max(p_yes, 1 - p_yes)} for key in questions},
        "usage": {"input_tokens": count_tokens(call.text), "output_tokens": 0},
    }


def pieces_of(call: RecordedCall, answer: Answer, kind: str) -> list[bytes]:
    """The same reply as a stream: what is written to the connection, one element a piece."""
    whole = reply_to(call, answer, kind)
    parts = [answer.text[n : n + 4] for n in range(0, len(answer.text), 4)]
    thoughts = [answer.thinking[n : n + 4] for n in range(0, len(answer.thinking), 4)]
    if call.path == OLLAMA:
        return _ollama_pieces(whole, thoughts, parts)
    choice = whole["choices"][0]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None}]
    deltas += [{"reasoning_content": part} for part in thoughts] + [{"content": part} for part in parts]
    chunks = [{"index": 0, "finish_reason": None, "delta": delta} for delta in deltas]
    chunks.append({"index": 0, "finish_reason": choice["finish_reason"], "delta": {}})
    rest: dict[str, Any] = {key: whole[key] for key in ("id", "model")}
    if call.body.get("timings_per_token"):
        rest["timings"] = {**whole["timings"], "predicted_n": whole["usage"]["completion_tokens"]}
    events: list[dict[str, Any]] = [{**rest, "object": "chat.completion.chunk", "choices": [one]} for one in chunks]
    if answer.usage and call.body.get("stream_options", {}).get("include_usage"):
        figures: dict[str, Any] = {key: whole[key] for key in ("usage", "timings") if key in whole}
        events.append({**rest, **figures, "object": "chat.completion.chunk", "choices": []})
    return [f"data: {json.dumps(event)}\n\n".encode() for event in events] + [b"data: [DONE]\n\n"]


def _ollama_pieces(whole: dict[str, Any], thoughts: list[str], parts: list[str]) -> list[bytes]:
    start = {key: whole[key] for key in ("model", "created_at")}
    messages = [{"role": "assistant", "content": "", "thinking": part} for part in thoughts]
    messages += [{"role": "assistant", "content": part} for part in parts]
    lines = [{**start, "message": message, "done": False} for message in messages]
    lines.append({**whole, "message": {"role": "assistant", "content": ""}})
    return [f"{json.dumps(line)}\n".encode() for line in lines]


def faulty(pieces: list[bytes], path: str, answer: Answer) -> list[bytes]:
    """The pieces with the answer's fault in their middle."""
    half = len(pieces) // 2
    bad = b"{not json\n" if path == OLLAMA else b"data: {not json\n\n"
    error = error_body(path, 500, answer.error)
    late = f"{json.dumps(error)}\n" if path == OLLAMA else f"data: {json.dumps(error)}\n\n"
    middle = {"garbage_line": [bad, *pieces[half:]], "late_error": [late.encode()], "cut": [], "torn": []}
    return pieces if answer.fault not in middle else [*pieces[:half], *middle[answer.fault]]
