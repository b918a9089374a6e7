"""A LoRA adapter with random weights and the right shapes, as llama.cpp reads it (GGUF version 3, little-endian)."""

from __future__ import annotations

import random
import struct
from pathlib import Path

ALIGNMENT = 32
_TEXT, _FLOAT = 8, 6
"""Value types of the format."""
_F32 = 0


def write_adapter(
    path: Path, architecture: str, tensors: dict[str, tuple[int, int]], rank: int = 4, scale: float = 1.0
) -> Path:
    """An adapter of some weight matrices, given as name to (inputs, outputs), with Gaussian weights of size ``scale``."""
    dice = random.Random(1)
    values = [("general.type", "adapter"), ("general.architecture", architecture), ("adapter.type", "lora")]
    head = b"GGUF" + struct.pack("<IQQ", 3, 2 * len(tensors), len(values) + 1)
    for key, value in values:
        head += _text(key) + struct.pack("<I", _TEXT) + _text(value)
    head += _text("adapter.lora.alpha") + struct.pack("<If", _FLOAT, float(rank))
    data = b""
    for name, (inputs, outputs) in tensors.items():
        for suffix, shape in ((".lora_a", (inputs, rank)), (".lora_b", (rank, outputs))):
            head += _text(name + suffix) + struct.pack("<IQQIQ", 2, *shape, _F32, len(data))
            size = shape[0] * shape[1]
            data += struct.pack(f"<{size}f", *(dice.gauss(0, scale) for _ in range(size)))
            data += b"\0" * (-len(data) % ALIGNMENT)
    path.write_bytes(head + b"\0" * (-len(head) % ALIGNMENT) + data)
    return path


def _text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data
