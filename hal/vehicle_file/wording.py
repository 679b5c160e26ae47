"""Names, values and units as text for errors in vehicle files. CPython only."""

import difflib
import json
import re
from collections.abc import Iterable
from typing import Any

Path = tuple[str, ...]  # a dotted key, part by part

# Suffix of a key: its unit in a sentence. No `min`: it stands for minimum.
UNITS = {
    "us": "us", "ms": "ms", "s": "s", "m": "m", "mm": "mm", "cm": "cm", "m2": "m2", "m3": "m3", "rad": "rad",
    "deg": "deg", "g": "g", "kg": "kg", "rpm": "rpm", "bar": "bar", "mbar": "mbar", "counts": "counts",
    "hz": "Hz", "khz": "kHz", "n": "N", "n_m": "N m", "n_s": "N s", "pa": "Pa", "kpa": "kPa", "hpa": "hPa",
    "a": "A", "ma": "mA", "ua": "uA", "mah": "mAh", "v": "V", "mv": "mV", "w": "W", "wh": "Wh", "c": "degC",
    "m_s": "m/s", "mm_s": "mm/s", "cm_s": "cm/s", "m_s2": "m/s2", "rad_s": "rad/s", "rad_s2": "rad/s2",
    "deg_s": "deg/s", "deg_s2": "deg/s2", "n_s_m": "N s/m", "kg_m2": "kg m2", "kg_m3": "kg/m3",
}  # fmt: skip


def short(value: Any) -> str:
    """A value as TOML, on one line and cut to a readable length."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        tables = any(isinstance(entry, dict | list) for entry in value)
        text = f"a list of {len(value)}" if tables else f"[{', '.join(short(v) for v in value[:9])}]"
    elif isinstance(value, str):
        text = json.dumps(value[:60], ensure_ascii=not value.isprintable())
    elif isinstance(value, bool):
        text = str(value).lower()
    else:
        text = str(value)
    return text if len(text) <= 48 else f"{text[:45]}..."


def plain(text: str) -> str:
    """A user's text on one line of a sentence."""
    text = text if text.isprintable() else json.dumps(text)[1:-1]
    return text if len(text) <= 60 else f"{text[:57]}..."


def dotted(path: Path) -> str:
    """A dotted key as in TOML; entries of lists are counted from 0, as for `--set`."""
    return ".".join(part if re.fullmatch(r"[\w-]+", part, re.ASCII) else short(part) for part in path)


def listed(words: Iterable[Any], between: str = ", ") -> str:
    """Names or values with commas, at most 16."""
    names = [dotted((word,)) if isinstance(word, str) else short(word) for word in words]
    return between.join(names if len(names) <= 16 else names[:15] + ["..."])


def did_you_mean(word: str, known: Iterable[Any]) -> str:
    """A hint with the nearest known name, or ""."""
    near = difflib.get_close_matches(word, [k for k in known if isinstance(k, str)], n=1)
    return f"; did you mean {dotted((near[0],))}?" if near else ""


def full_stop(sentence: str) -> str:
    """The sentence with a full stop, if it has none."""
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


def split_unit(key: str) -> tuple[str, str]:
    """The stem of a key and the suffix that is its unit: centre_us -> centre, us."""
    parts = key.split("_")
    for i in range(1, len(parts)):
        suffix = "_".join(parts[i:])
        if suffix in UNITS or ("_per_" in suffix and all(u in UNITS for u in suffix.split("_per_"))):
            # A unit before the unit (n_m_s_rad) makes one that is not in the table: leave it out.
            unclear = parts[i - 1] == "per" or (i > 1 and parts[i - 1] in UNITS)
            return (key, "") if unclear else ("_".join(parts[:i]), suffix)
    return key, ""


def unit_of(key: str) -> str:
    """The unit of a key, or ""."""
    suffix = split_unit(key)[1]
    return "/".join(UNITS[part] for part in suffix.split("_per_")) if suffix else ""
