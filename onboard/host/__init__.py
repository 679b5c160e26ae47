"""What a loop needs of the computer it runs on: real time, its health, its service manager."""
