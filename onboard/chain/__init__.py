"""A chain of rigid modules and soft joints: kinematics, dynamics, and tasks in order of priority. Needs numpy."""
