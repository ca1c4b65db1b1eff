"""What tests of notes share: side, kind and values of each, never its wording."""


def noted(notes):
    """Return side, kind and values of notes."""
    return [(note.side, note.kind, note.values) for note in notes]
