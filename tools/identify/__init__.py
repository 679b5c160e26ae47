"""System identification: a vehicle's inertia and drag from its logs."""
