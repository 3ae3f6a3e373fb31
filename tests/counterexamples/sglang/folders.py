"""Folders that look like an installed release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def make_release(place: Path, version: str, sources: Mapping[str, str] | None = None) -> Path:
    """A folder with the version's metadata and these files under ``sglang/srt``."""
    folder = place / f"sglang-{version}"
    metadata = folder / f"sglang-{version}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.4\nName: sglang\nVersion: {version}\n")
    for path, text in {"lora/lora_manager.py": "", **(sources or {})}.items():
        file = folder / "sglang" / "srt" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder
