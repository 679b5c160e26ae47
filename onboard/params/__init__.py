"""Parameters that can be set during a run, and the file that stores them.

`[param.NAME]` of a vehicle file makes a number tunable, with range, unit and description; the file's value is the
default. Setting one is a command: checked, executed at the start of a tick, recorded, replayed.

hot_update.py applies it to the running parts by a three-way merge. It builds the parts from the settings before and
after. What differs between the two, and running has not changed, gets the new value; integrals, phases and estimates
stay. So any number in the tables of onboard and hal can be tuned without code in its part; a part may name its
`STATE` and have a `changed()`. The alternative, a `tune` method in every part, would be a second constructor to
maintain, and rebuilding a stage would lose its integrals. Two builds and the merge take 0.2 ms for a failsafe rule
and 0.7 to 3.5 ms for the others (without a chain) on a laptop's core. A microcontroller gets no commands, so its
image has none of this.

store.py stores changed values off the control thread and atomically. They return as one command, `load`, in the first
tick, so that a log needs no store. Parameters of a chain take effect at the next start, because its plan takes half a
second to build; those of its failsafe rules do so at once. `caudal check` reads the file at the ends of all ranges,
any two together, so that no value within them can be refused.
"""
