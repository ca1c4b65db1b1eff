"""Operations on images that several protocols use: masks as bits, thinning, which pixels are nearest."""
