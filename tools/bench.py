"""x"""
def arguments(c): pass
def run(a): return 0
