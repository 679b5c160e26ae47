"""Releases on a vehicle's computer: stored side by side, switched in one step, rolled back if one does not stay up.

    /opt/caudal/releases/NAME/     bin/caudal, site/ (packages), etc/ (vehicle file), system/ (units, rules; as under /)
    /opt/caudal/current, previous  links to two of them
    /opt/caudal/trial.json         exists while the current release is on trial: it has to show that it stays up
    /opt/caudal/went-back.json     exists after a rollback, until the next release is installed

`caudal deploy pi` runs this for `install`, on the vehicle or with --root on an image; systemd for `boot`, `fallback`,
`confirm` and `tidy`; users may run `health`, `back` and `uninstall`. It needs Python's standard library alone.
Calibration (/var/lib/caudal) and logs (/var/log/caudal) belong to no release; releases do not change them.
"""
