FIGURES = ()


def tables(r):
    return []
