"""Compiled loops of the confusion matrix of two label maps.

Imported only when pixels are counted, so that ``import segbench`` stays quick.
"""

from __future__ import annotations

import numpy as np

from segbench.core.arrays import Array
from segbench.core.compiling import compiled


@compiled()
def confusion(truth: Array, predicted: Array, rows: Array, columns: Array, size: int) -> Array:
    """Count pixels by the sum of two table entries: those of their true and of their predicted value."""
    # Neighbours often have the same labels, and adding to one counter has to wait for the addition before: four tables.
    tables = np.zeros((4, size), np.int64)
    whole = truth.size - truth.size % 4
    for i in range(0, whole, 4):
        tables[0, rows[truth[i]] + columns[predicted[i]]] += 1
        tables[1, rows[truth[i + 1]] + columns[predicted[i + 1]]] += 1
        tables[2, rows[truth[i + 2]] + columns[predicted[i + 2]]] += 1
        tables[3, rows[truth[i + 3]] + columns[predicted[i + 3]]] += 1
    for i in range(whole, truth.size):
        tables[0, rows[truth[i]] + columns[predicted[i]]] += 1
    return tables[0] + tables[1] + tables[2] + tables[3]


@compiled()
def confusion_of_words(truth: Array, predicted: Array, rows: Array, columns: Array, size: int) -> Array:
    """Do the same for values of 8 bits, given as uint64: eight pixels at a time.

    Label maps are mostly areas of one label, and eight pixels of one label are counted at once.
    """
    tables = np.zeros((4, size), np.int64)
    low, step, repeated = np.uint64(255), np.uint64(8), np.uint64(0x0101010101010101)
    for i in range(truth.size):
        true_word, predicted_word = truth[i], predicted[i]
        if true_word == (true_word & low) * repeated and predicted_word == (predicted_word & low) * repeated:
            tables[i & 3, rows[true_word & low] + columns[predicted_word & low]] += 8
            continue
        for _ in range(2):
            for table in range(4):
                tables[table, rows[true_word & low] + columns[predicted_word & low]] += 1
                true_word >>= step
                predicted_word >>= step
    return tables[0] + tables[1] + tables[2] + tables[3]
