"""A vehicle for the portable tests: its tables, and a driver whose counts a test sets by name."""

ECHOES = ("ahead", "port", "starboard")
MEASURED = ("heading", "turn_rate", "x", "y", "depth", "target_x", "target_y")  # mrad, mrad/s, mm
SENSORS = MEASURED + ("bumper",) + ECHOES
JOINTS = ("tail_1", "tail_2", "tail_3", "tail_4")
NO_ECHO = 3000


class Table:
    """A table of a vehicle file as a board has it: an object with attributes."""

    def __init__(self, **keys):
        self.changed(**keys)

    def changed(self, **keys):
        """Sets keys; the table itself."""
        for key in keys:
            setattr(self, key, keys[key])
        return self


def servo(name, port, **changes):
    settings = Table(
        name=name,
        map="servo",
        feedback="",
        port=port,
        centre_us=1500,
        us_per_rad=600.0,
        direction=1,
        trim_us=0,
        low_us=800,
        high_us=2200,
        min_rad=-1.0,
        max_rad=1.0,
        slew_rad_s=12.0,
        safe_rad="off",
    )
    return settings.changed(**changes)


def valve(name="valve", **changes):
    """A valve that should open at 120 mA, with a pressure loop of five times its open-loop gain."""
    settings = Table(
        name=name,
        map="valve",
        port=0,
        cracking_current_ua=120000,
        ua_per_pa=0.5,
        high_ua=600000,
        min_pa=0.0,
        max_pa=800000.0,
        slew_pa_s=1e6,
        safe_pa="off",
        pressure="chamber",
        kp=2.5,
        ki=25.0,
        trim_ua=40000,
        feedback="",
    )
    return settings.changed(**changes)


def sensor(name, port, si_per_count, low_count, high_count, max_age_s=0.1, place=None):
    return Table(
        name=name,
        map="linear",
        port=port,
        zero_count=0,
        si_per_count=si_per_count,
        low_count=low_count,
        high_count=high_count,
        max_age_s=max_age_s,
        place=place,
    )


def place(bearing_deg):
    return Table(x_m=0.1, y_m=0.0, bearing_deg=bearing_deg, half_angle_deg=20.0, range_m=3.0)


def failsafe(name, trigger, action, **changes):
    row = Table(
        name=name,
        trigger=trigger,
        action=action,
        delay_s=0.0,
        clear_s=0.0,
        latched=False,
    )
    return row.changed(**changes)


def control():
    return Table(
        kind="tail",
        mass_kg=0.6,
        wetted_area_m2=0.055,
        reynolds_length_m=0.26,
        viscosity_m2_s=1.12e-6,
        density_kg_m3=1000.0,
        metres_per_beat=0.2,
        turn_rad_per_beat=1.2,
        curvature_per_rad=0.0,
        frequency_min_hz=0.0,
        amplitude_min=0.0,
        frequency_max_hz=3.0,
        deflection_max_rad=1.05,
        dive=None,
    )


def gait(source="cpg"):
    return Table(
        kind="tail",
        source=source,
        joints=JOINTS,
        links_m=[0.07, 0.07, 0.06, 0.06],
        turn_share=[0.5, 0.5, 0.0, 0.0],
        table_size=36,
        c1=0.05,
        c2_per_m=0.25,
        wavelength_m=0.45,
        convergence_per_s=12.0,
        coupling_per_s=8.0,
    )


def estimate():
    return Table(
        heading="heading",
        turn_rate="turn_rate",
        x="x",
        y="y",
        depth="depth",
        roll="",
        pitch="",
        roll_rate="",
        pitch_rate="",
        turn_smooth_s=0.0,
        position_gain=0.25,
        speed_gain_per_s=0.5,
    )


def guidance():
    return Table(
        horizon_s=2.4,
        steps=8,
        min_clearance_m=0.1,
        preferred_clearance_m=0.35,
        turn_lag_s=0.35,
        speed_lag_s=0.8,
        brake_m_s2=0.15,
        accelerate_m_s2=0.08,
        turn_rates_rad_s=[0.0, -0.3, 0.3, -0.7, 0.7, -1.2, 1.2, -2.0, 2.0],
        speed_shares=[1.0, 0.4, 0.0],
        hull=[
            Table(x_m=x_m, radius_m=radius_m)
            for x_m, radius_m in ((0.14, 0.07), (0.04, 0.06), (-0.12, 0.05), (-0.24, 0.05))
        ],
        weights=Table(
            task=0.4,
            change=0.15,
            flip=3.0,
            port=0.05,
            slow=1.5,
            near=3.0,
            touch=200.0,
        ),
        bumper="bumper",
        recoil_s=0.8,
        recoil_m_s2=0.1,
    )


def settings():
    sensors = [sensor(name, k, 0.001, -20000, 20000) for k, name in enumerate(MEASURED)]
    sensors.append(sensor("bumper", len(sensors), 1.0, 0, 1))
    bearings = {"ahead": 0.0, "port": 40.0, "starboard": -40.0}
    for name in ECHOES:
        sensors.append(sensor(name, len(sensors), 0.001, 20, NO_ECHO, 0.35, place(bearings[name])))
    return Table(
        rate_hz=100,
        guidance_rate_hz=10,
        actuators=[servo(name, k) for k, name in enumerate(JOINTS)],
        sensors=sensors,
        gait=gait(),
        control=control(),
        estimate=estimate(),
        guidance=guidance(),
        surface=Table(method="buoyancy", frequency_hz=0.0, commands=[], drop=[]),
        sticks=Table(frequency_hz=2.0, deflection_deg=45.0, depth_m_s=0.1),
        mission=None,
        params=[],
        failsafes=[
            failsafe("not_armed", "not_armed", "disarm"),
            failsafe(
                "heading_lost", "reading_lost", "neutral", sensors=["heading"], delay_s=0.2, clear_s=0.5
            ),
        ],
    )


def schedule(*rows):
    """Rows of (at_s, frequency_hz, amplitude, deflection_deg)."""
    names = ("at_s", "frequency_hz", "amplitude", "deflection_deg")
    tables = [Table(hold=[], depth_m=None, **dict(zip(names, row))) for row in rows]
    return Table(task="schedule", depth_m=None, rows=tables)


def wander():
    return Table(
        task="wander",
        depth_m=None,
        preferred_clearance_m=None,
        speed_m_s=0.24,
        meander_rad_s=0.0,
        meander_s=17.0,
    )


class BenchDriver:
    """Counts by sensor name, set by the test; stores what was written last."""

    def __init__(self, names=SENSORS):
        self.names = names
        self.counts = {}
        for name in names:
            self.counts[name] = NO_ECHO if name in ECHOES else 0
        self.outputs = None
        self.writes = 0
        self.closed = False

    def read(self, counts):
        for i, name in enumerate(self.names):
            counts[i] = self.counts[name]

    def write(self, outputs):
        self.outputs = list(outputs)
        self.writes += 1

    def close(self):
        self.closed = True


def raises(kind, call, *arguments):
    """The message of the exception that a call must raise."""
    try:
        call(*arguments)
    except kind as error:
        return str(error)
    raise AssertionError("nothing was raised")
