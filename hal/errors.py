"""The base of every error whose text is one sentence for the user."""


class CaudalError(Exception):
    """What cannot be done, in a sentence: a wrong file, log, port or request. `caudal` prints it and exits with 2."""
