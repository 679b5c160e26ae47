"""Releases on a vehicle's computer: brought in side by side, switched in one step, taken back if one does not stay up.

    /opt/caudal/releases/NAME/     bin/caudal, site/ (packages), etc/ (vehicle file), system/ (units, rules; as below /)
    /opt/caudal/current, previous  links to two of them
    /opt/caudal/trial.json         there while the current release has yet to show that it stays up
    /opt/caudal/went-back.json     there when it did not, until the next release comes

`caudal deploy pi` runs this for `install`, on the vehicle or with --root on an image; systemd for `boot`, `fallback`,
`confirm` and `tidy`; a person may run `health`, `back` and `uninstall`. It needs Python's own library alone.
Calibration (/var/lib/caudal) and logs (/var/log/caudal) belong to no release and outlive them all.
"""
