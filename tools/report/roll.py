"""Figures of a vehicle that beats and may roll: roll with its envelope, its spectrum, and how stable it is."""

from typing import Any

import numpy as np

from caudal.tools.report.plot import LIMIT, Plot, Reported, beat_hz, thin

SETTLE = 0.2  # of the run is left out of the spectrum
SEGMENT_S = 16.0
HARMONICS = 4
NEAR_HZ = 0.15  # of the beat, counts as at it
LEAST_DEG = 0.02
CAPSIZED_DEG = 90.0


def figures(told: Reported) -> list[Plot]:
    if not told.settings["gait"] or not told.has("truth", "roll_rad"):
        return []
    return rolled(told, told.time_s("truth"), np.degrees(told.column("truth", "roll_rad")), beat_hz(told))


def facts(told: Reported) -> dict[str, Any]:
    if not told.settings["gait"] or not told.has("truth", "roll_rad"):
        return {}
    found = stability(told.time_s("truth"), np.degrees(told.column("truth", "roll_rad")), beat_hz(told))
    return {key: value for key, value in found.items() if key != "roll_largest_deg"}  # the summary has it


def rolled(told: Reported, time_s: np.ndarray, roll_deg: np.ndarray, beat: float | None) -> list[Plot]:
    """Of any roll; none of one that lies still or is too short to say."""
    if len(roll_deg) < 2 or np.ptp(roll_deg) < LEAST_DEG:
        return []
    plots = [_over_time(told, time_s, roll_deg, beat)]
    spectrum = power(time_s, roll_deg)
    return plots + ([_spectrum(told, *spectrum, stability(time_s, roll_deg, beat), beat)] if spectrum else [])


def stability(time_s: np.ndarray, roll_deg: np.ndarray, beat: float | None) -> dict[str, float]:
    """Largest roll, its root mean square, and how much of its power goes with the beat."""
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
    """(Hz, unit squared a Hz): mean over Hann windows that overlap by half (Welch); None of too little."""
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
    """Least and largest of `window` values round each."""
    window = max(1, min(window, len(values)))
    padded = np.pad(values, (window // 2, window - 1 - window // 2), mode="edge")
    views = np.lib.stride_tricks.sliding_window_view(padded, window)
    return views.min(axis=1), views.max(axis=1)


def _over_time(told: Reported, time_s: np.ndarray, roll_deg: np.ndarray, beat: float | None) -> Plot:
    figure, axes = told.axes(3.2)
    step_s = float(time_s[-1] - time_s[0]) / (len(time_s) - 1)
    low, high = envelope(roll_deg, round(1 / max(beat or 1.0, 0.1) / step_s))
    axes.fill_between(thin(time_s), thin(low), thin(high), alpha=0.2, label="envelope of a beat")
    axes.plot(thin(time_s), thin(roll_deg), linewidth=0.8, label="roll")
    axes.axhline(0, color="0.6", linewidth=0.7)
    if np.abs(roll_deg).max() > CAPSIZED_DEG:
        for side in (-CAPSIZED_DEG, CAPSIZED_DEG):
            axes.axhline(side, color=LIMIT, linewidth=1, label="capsized")
    axes.set(xlabel="time, s", ylabel="roll, deg")
    told.legend(figure)
    return Plot(
        "Roll",
        figure,
        "An envelope that grows from beat to beat ends in a capsize; a stable vehicle's stays narrow.",
    )


def _spectrum(
    told: Reported, at_hz: np.ndarray, density: np.ndarray, found: dict[str, float], beat: float | None
) -> Plot:
    figure, axes = told.axes(3.4)
    top_hz = (HARMONICS + 1) * beat if beat else 6.0
    shown = (at_hz > 0) & (at_hz <= top_hz)
    axes.semilogy(at_hz[shown], np.maximum(density[shown], 1e-9 * density.max()), linewidth=1.0, label="roll")
    if beat:
        axes.axvline(beat, color=LIMIT, linewidth=1, label=f"beat, {beat:.3g} Hz")
        for k in range(2, HARMONICS + 1):
            axes.axvline(k * beat, color=LIMIT, linewidth=0.8, linestyle=":", label="its harmonics")
    axes.set(xlabel="frequency, Hz", ylabel="power, deg²/Hz", xlim=(0, top_hz))
    told.legend(figure)
    said = f"largest roll {found['roll_largest_deg']:.2f} deg, rms {found['roll_rms_deg']:.2f} deg"
    if "roll_power_at_beat" in found:
        said += f", {100 * found['roll_power_at_beat']:.0f} % of the power at the beat"
    return Plot(
        "Spectrum of roll",
        figure,
        "A peak away from the beat and its harmonics is a roll of the vehicle's own, which may grow; stability: "
        f"{said}.",
    )
