"""Small matrices as lists of rows, for calculations that run once, when a stack is built. Portable; floats."""


def zeros(rows: int, columns: int) -> list[list[float]]:
    """A matrix of zeros."""
    return [[0.0] * columns for _ in range(rows)]


def transposed(a: list[list[float]]) -> list[list[float]]:
    """The transpose."""
    return [[row[j] for row in a] for j in range(len(a[0]))]


def product(a: list[list[float]], b: list[list[float]]) -> list[list[float]]:
    """The matrix a b."""
    columns = transposed(b)
    return [[dot(row, column) for column in columns] for row in a]


def dot(a: list[float], b: list[float]) -> float:
    """The scalar product of two vectors."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


def times(a: list[list[float]], x: list[float], out: list[float]) -> None:
    """Sets out = a x in place, without a new list."""
    i = 0
    for row in a:
        total = 0.0
        j = 0
        for value in row:
            total += value * x[j]
            j += 1
        out[i] = total
        i += 1


def inverse(a: list[list[float]]) -> list[list[float]]:
    """The inverse, by Gauss-Jordan elimination with pivots; raises ValueError for a singular matrix."""
    n = len(a)
    work = [list(a[i]) + [1.0 if i == j else 0.0 for j in range(n)] for i in range(n)]
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(work[i][k]) > abs(work[best][k]):
                best = i
        if abs(work[best][k]) < 1e-12:
            raise ValueError("a matrix has no inverse")
        work[k], work[best] = work[best], work[k]
        pivot = work[k][k]
        work[k] = [value / pivot for value in work[k]]
        for i in range(n):
            if i != k and work[i][k]:
                factor = work[i][k]
                work[i] = [value - factor * other for value, other in zip(work[i], work[k])]
    return [row[n:] for row in work]
