# make run     set everything up and simulate the fish for a minute
# make test    set everything up and run all tests
# make test-arm64   deploy onto an emulated Raspberry Pi and check its service: half an hour, as root
# make pictures     render the README's screenshots again, by a headless browser
# make lines    Python lines by room
# make setup | lint | format | bench | coverage | fuzz | clean
PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test test-arm64 pictures lines setup lint format bench coverage fuzz clean

run: setup
	$(BIN)/caudal run fish --scenario pool --report
	@echo "Open the report in a browser; change the gait in onboard/vehicles/fish.toml or with --set and run again:"
	@echo "  $(BIN)/caudal run fish --scenario cruise --set gait.wavelength_m=0.6 --report"

test: setup lint
	@tests/view/get-chromium >/dev/null || true
	@deploy/mcu/get-microbit >/dev/null || true  # says what is left out, and how to have it
	$(BIN)/pytest -n 2 --dist worksteal

test-arm64: setup
	$(BIN)/python -m tests.arm64.check "$$(PYTHON=$(BIN)/python tests/arm64/get-userland)"

pictures: setup
	@tests/view/get-chromium >/dev/null
	$(BIN)/python -m tests.view.pictures

lines:
	@$(PYTHON) -m tests.lines

setup: .venv/ready

.venv/ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Caudal needs Python 3.11 or newer; $(PYTHON) is older. Set PYTHON=python3.11 or newer."; exit 1; }
	@$(PYTHON) -m venv .venv 2>/dev/null || { \
	  [ "$$(id -u)" = 0 ] || { echo "python3-venv is missing: run 'sudo apt-get install python3-venv' first."; exit 1; }; \
	  apt-get -qq update && apt-get -qq install -y python3-venv && rm -rf .venv && $(PYTHON) -m venv .venv; }
	@echo "installing Caudal and its tools into .venv (once, a minute or two)"
	@$(BIN)/pip install --quiet --disable-pip-version-check -e '.[test]'
	@# its own demands include VTK and OpenCV, for a 3-D map; its command line needs neither (defusedxml, pynmeagps: above)
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps 'MAVProxy==1.8.75'
	@touch $@

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup
	$(BIN)/caudal bench
	$(BIN)/caudal bench loop rov
	$(BIN)/caudal bench excite
	$(BIN)/caudal bench priorities
	$(BIN)/caudal bench plant

fuzz: setup
	$(BIN)/pip install --quiet --disable-pip-version-check atheris
	cd $$(mktemp -d) && PYTHONPATH=$(CURDIR) $(CURDIR)/$(BIN)/python $(CURDIR)/tests/link/fuzz_frame.py -max_total_time=600
	cd $$(mktemp -d) && PYTHONPATH=$(CURDIR) $(CURDIR)/$(BIN)/python $(CURDIR)/tests/station/fuzz_frames.py -max_total_time=600

coverage: setup
	$(BIN)/pytest -n 2 --cov=hal --cov-branch --cov-fail-under=90 tests/hal tests/vehicle_file tests/portable \
	  tests/commands/test_vehicle_run.py tests/commands/test_probe.py tests/commands/test_calibrate*.py \
	  tests/swim/test_on_chips.py tests/mcu/test_mcu_drivers.py tests/mcu/test_deploy.py tests/hil/test_ports.py

clean:
	rm -rf .venv build runs *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
