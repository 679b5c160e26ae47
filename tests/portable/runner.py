"""Runs the portable tests without pytest, on MicroPython and CPython alike.

    micropython tests/portable/runner.py        python tests/portable/runner.py

Prints every failure with its name, then `N passed, M failed`; the exit code is 1 if any failed.
"""

import os
import sys

HERE = __file__.rsplit("/", 1)[0] if "/" in __file__ else "."
sys.path.insert(0, HERE + "/../../src")
sys.path.insert(0, HERE)


def show(error):
    if hasattr(sys, "print_exception"):
        sys.print_exception(error)
    else:
        sys.excepthook(type(error), error, error.__traceback__)


def run():
    passed = 0
    failed = 0
    for file in sorted(os.listdir(HERE)):
        if not (file.startswith("test_") and file.endswith(".py")):
            continue
        name = file[:-3]
        try:
            module = __import__(name)
        except Exception as error:
            print("FAILED " + name + " (import)")
            show(error)
            failed += 1
            continue
        for test in sorted(dir(module)):
            if not test.startswith("test_"):
                continue
            try:
                getattr(module, test)()
                passed += 1
            except Exception as error:
                print("FAILED " + name + "." + test)
                show(error)
                failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(run())
