"""What tests of notes share: side, kind and values of each, never its wording."""


def noted(notes):
    """Return side, kind and values of notes."""
    return [(note.side, note.kind, note.values) for note in notes]


def kinds(notes):
    """Return the kind of each note."""
    return [note.kind for note in notes]


def of_kind(notes, *kind):
    """Return the notes of some kinds."""
    return [note for note in notes if note.kind in kind]
