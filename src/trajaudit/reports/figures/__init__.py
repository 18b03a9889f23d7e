"""Figures: each function takes scorecards of one convention, or annotations, and returns a drawing to ``save``."""

from trajaudit.reports.figures.annotations import co_occurrence, model_profiles, task_positions, type_by_component
from trajaudit.reports.figures.cost import cost_quality, frontier
from trajaudit.reports.figures.fault_types import confusion_matrices, per_type_recall
from trajaudit.reports.figures.recall import recall_by_stratum
from trajaudit.reports.figures.reliability import reliability_curves
from trajaudit.reports.figures.signals import signal_forest
from trajaudit.reports.figures.style import Drawing, save

__all__ = [
    "Drawing",
    "co_occurrence",
    "confusion_matrices",
    "cost_quality",
    "frontier",
    "model_profiles",
    "per_type_recall",
    "recall_by_stratum",
    "reliability_curves",
    "save",
    "signal_forest",
    "task_positions",
    "type_by_component",
]
