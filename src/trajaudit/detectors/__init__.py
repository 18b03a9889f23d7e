"""Detectors: auditors that are fitted on labelled runs, scored on runs of groups that they never saw."""
