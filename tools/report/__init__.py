"""`caudal report`: plots and tables of a log on one page."""
