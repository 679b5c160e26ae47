"""Forces of the water: drag, buoyancy, lift, waves, and the quick law of a beating tail."""
