"""A chain of rigid modules and soft joints: its kinematics, its dynamics, and aims in order of priority. Needs numpy."""
