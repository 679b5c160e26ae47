"""Plots of roll for a vehicle with a gait: roll with its envelope, its spectrum, and how stable it is."""

from typing import Any

import numpy as np

from caudal.tools.report.plot import LIMIT, Plot, ReportData, beat_hz, decimated

SETTLE = 0.2  # share of the run that is left out of the spectrum
SEGMENT_S = 16.0
HARMONICS = 4
NEAR_HZ = 0.15  # half-width of the band that counts as the beat
LEAST_DEG = 0.02
CAPSIZED_DEG = 90.0


def figures(data: ReportData) -> list[Plot]:
    """Returns the plots; none for a vehicle without gait or roll."""
    return roll_plots(data, *_roll(data), beat_hz(data)) if _rolls(data) else []


def metrics(data: ReportData) -> dict[str, Any]:
    """Returns the metrics of roll that the summary lacks; none for a vehicle without gait or roll."""
    if not _rolls(data):
        return {}
    found = stability(*_roll(data), beat_hz(data))
    return {key: value for key, value in found.items() if key != "roll_largest_deg"}


def _rolls(data: ReportData) -> bool:
    return bool(data.settings.gait) and data.has("truth", "roll_rad")


def _roll(data: ReportData) -> tuple[np.ndarray, np.ndarray]:
    """Returns (times (s), roll (deg))."""
    return data.time_s("truth"), np.degrees(data.column("truth", "roll_rad"))


def roll_plots(data: ReportData, time_s: np.ndarray, roll_deg: np.ndarray, beat: float | None) -> list[Plot]:
    """Returns plots of roll over time and its spectrum; none of a roll that is still or too short."""
    if len(roll_deg) < 2 or np.ptp(roll_deg) < LEAST_DEG:
        return []
    plots = [_over_time(data, time_s, roll_deg, beat)]
    spectrum = power(time_s, roll_deg)
    return plots + ([_spectrum(data, *spectrum, stability(time_s, roll_deg, beat), beat)] if spectrum else [])


def stability(time_s: np.ndarray, roll_deg: np.ndarray, beat: float | None) -> dict[str, float]:
    """Returns the largest roll, its root mean square, and the share of its power at the beat."""
    found = {
        "roll_largest_deg": float(np.abs(roll_deg).max()),
        "roll_rms_deg": float(np.sqrt(np.mean(roll_deg**2))),
    }
    spectrum = power(time_s, roll_deg) if np.ptp(roll_deg) >= LEAST_DEG else None
    if spectrum and beat:
        at_hz, density = spectrum
        near = np.abs(at_hz - beat) <= max(NEAR_HZ, 1.5 * (at_hz[1] - at_hz[0]))
        found["roll_power_at_beat"] = float(density[near].sum() / max(density[1:].sum(), 1e-12))
    return found


def power(time_s: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Returns (frequencies (Hz), power density (unit squared per Hz)) by Welch's method; None of too few values.

    The windows are Hann windows that overlap by half.
    """
    begin = int(SETTLE * len(values))
    values = values[begin:][np.isfinite(values[begin:])]
    if len(values) < 32:
        return None
    step_s = float(time_s[-1] - time_s[0]) / (len(time_s) - 1)
    count = min(len(values), max(32, round(SEGMENT_S / step_s)))
    window = np.hanning(count)
    starts = range(0, len(values) - count + 1, max(1, count // 2))
    parts = [values[k : k + count] for k in starts]
    density = np.mean([np.abs(np.fft.rfft((part - part.mean()) * window)) ** 2 for part in parts], axis=0)
    return np.fft.rfftfreq(count, step_s), 2 * density * step_s / (window**2).sum()


def envelope(values: np.ndarray, window: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns the smallest and the largest of `window` values around each value."""
    window = max(1, min(window, len(values)))
    padded = np.pad(values, (window // 2, window - 1 - window // 2), mode="edge")
    views = np.lib.stride_tricks.sliding_window_view(padded, window)
    return views.min(axis=1), views.max(axis=1)


def _over_time(data: ReportData, time_s: np.ndarray, roll_deg: np.ndarray, beat: float | None) -> Plot:
    figure, axes = data.axes()
    step_s = float(time_s[-1] - time_s[0]) / (len(time_s) - 1)
    low, high = envelope(roll_deg, round(1 / max(beat or 1.0, 0.1) / step_s))
    axes.fill_between(
        decimated(time_s), decimated(low), decimated(high), alpha=0.2, label="envelope of a beat"
    )
    axes.plot(decimated(time_s), decimated(roll_deg), linewidth=0.8, label="roll")
    axes.axhline(0, color="0.6", linewidth=0.7)
    if np.abs(roll_deg).max() > CAPSIZED_DEG:
        for side in (-CAPSIZED_DEG, CAPSIZED_DEG):
            axes.axhline(side, color=LIMIT, linewidth=1, label="capsized")
    axes.set(xlabel="time, s", ylabel="roll, deg")
    return data.plot(
        "Roll",
        figure,
        "The envelope of a stable vehicle stays narrow; one that grows from beat to beat ends in a capsize.",
    )


def _spectrum(
    data: ReportData, at_hz: np.ndarray, density: np.ndarray, found: dict[str, float], beat: float | None
) -> Plot:
    figure, axes = data.axes(3.4)
    top_hz = (HARMONICS + 1) * beat if beat else 6.0
    shown = (at_hz > 0) & (at_hz <= top_hz)
    axes.semilogy(at_hz[shown], np.maximum(density[shown], 1e-9 * density.max()), linewidth=1.0, label="roll")
    if beat:
        axes.axvline(beat, color=LIMIT, linewidth=1, label=f"beat, {beat:.3g} Hz")
        for k in range(2, HARMONICS + 1):
            axes.axvline(k * beat, color=LIMIT, linewidth=0.8, linestyle=":", label="harmonics of the beat")
    axes.set(xlabel="frequency, Hz", ylabel="power, deg²/Hz", xlim=(0, top_hz))
    values = f"largest roll {found['roll_largest_deg']:.2f} deg, rms {found['roll_rms_deg']:.2f} deg"
    if "roll_power_at_beat" in found:
        values += f", {100 * found['roll_power_at_beat']:.0f} % of the power at the beat"
    return data.plot(
        "Spectrum of roll",
        figure,
        f"A peak away from the beat and its harmonics is an oscillation that may grow; {values}.",
    )
