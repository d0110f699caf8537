"""Small texts as users' files."""

from __future__ import annotations

import csv
import json
from pathlib import Path

TEXTS = [
    "the moon and a rocket",
    "engine of a car",
    "the rocket engine",
    "moon, moon and moon",
    "a car is a car",
]
TOPICS = ["space", "cars", None, "space", "cars"]


def write_folder(folder: Path, start: str = "") -> None:
    for number, (text, topic) in enumerate(zip(TEXTS, TOPICS, strict=True)):
        path = folder / start / (topic or "") / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def write_lines(path: Path) -> None:
    lines = [
        {"text": text, "topic": topic, "id": i}
        for i, (text, topic) in enumerate(zip(TEXTS, TOPICS, strict=True))
    ]
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n\n", "utf-8")


def write_csv(path: Path, more: bool = False) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["topic", "review", *(["stars"] if more else [])])
        for i, (text, topic) in enumerate(zip(TEXTS, TOPICS, strict=True)):
            writer.writerow([topic or "", text, *([i] if more else [])])
