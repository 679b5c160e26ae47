"""A chain of rigid modules and soft joints: kinematics, dynamics, and aims in order of priority. Needs numpy."""
