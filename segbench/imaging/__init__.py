"""Operations on images that several protocols use: masks as bits, thinning, which pixels are nearest.

Masks and soft maps enter as arrays, and arrays leave: no protocol, file or setting is known here. Begin with `bits`,
the form in which masks are thinned and matched.
"""
