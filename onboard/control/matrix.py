"""Small matrices as lists of rows, for what is worked out once when a stack is built. Portable; floats."""


def zeros(rows, columns):
    return [[0.0] * columns for _ in range(rows)]


def transposed(a):
    return [[row[j] for row in a] for j in range(len(a[0]))]


def product(a, b):
    columns = transposed(b)
    return [[dot(row, column) for column in columns] for row in a]


def dot(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


def times(a, x, out):
    """out = a x, in place: no list is made."""
    i = 0
    for row in a:
        total = 0.0
        j = 0
        for value in row:
            total += value * x[j]
            j += 1
        out[i] = total
        i += 1


def inverse(a):
    """Gauss and Jordan with pivots; a ValueError where there is none."""
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
