"""`caudal view`: a run in the browser, in three dimensions."""
