"""Pure functions over labels and verdicts: how well each auditor detects, locates, types and is calibrated, and whether
one differs from another. Nothing here reads a file."""
