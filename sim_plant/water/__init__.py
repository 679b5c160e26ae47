"""Forces of the water: drag, buoyancy, lift, waves; the Strouhal model of a beating tail."""
