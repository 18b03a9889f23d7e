"""Logistic models as plain numbers: fitted by scikit-learn, kept as JSON, applied by one product.

A pickled estimator runs code when it is loaded and breaks with the next release of its library; a list of weights does
neither. Columns are used as they are (all lie in [0, 1] or are small counts), so no scaler has to travel along.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from trajaudit._fields import Json

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Linear:
    """A logistic model over ``classes``: weights [classes or 1, columns] and intercepts."""

    classes: tuple[str, ...]
    weights: FloatArray
    intercepts: FloatArray

    def logits(self, rows: FloatArray) -> FloatArray:
        """Return [n, classes], or [n, 1] for two classes: the logit of the second."""
        return rows @ self.weights.T + self.intercepts

    def probabilities(self, rows: FloatArray) -> FloatArray:
        """Return [n, classes], rows summing to 1."""
        logits = self.logits(rows)
        if len(self.classes) == 1:
            return np.ones((len(rows), 1))
        if logits.shape[1] == 1:
            logits = np.column_stack([np.zeros(len(rows)), logits[:, 0]])
        shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))

    def to_json(self) -> Json:
        return {
            "classes": list(self.classes),
            "weights": [[round(float(w), 6) for w in row] for row in self.weights],
            "intercepts": [round(float(b), 6) for b in self.intercepts],
        }

    @classmethod
    def from_json(cls, obj: Json) -> Linear:
        return cls(tuple(obj["classes"]), np.array(obj["weights"]), np.array(obj["intercepts"]))


def fit_linear(rows: FloatArray, classes: list[str], strength: float, balanced: bool = False) -> Linear:
    """Return a logistic model, rounded as it is kept, so that a model loaded again gives the very same scores.

    Args:
        classes: [n], the class of each row; of one class only, the model always names it.
        strength: the inverse of the L2 penalty.
        balanced: weigh classes by the inverse of their frequency.
    """
    names = sorted(set(classes))
    if len(names) == 1:
        return Linear((names[0],), np.zeros((1, rows.shape[1])), np.zeros(1))
    model = LogisticRegression(C=strength, max_iter=2000, class_weight="balanced" if balanced else None)
    with threadpool_limits(1):  # so few columns: more threads only wait for each other
        model.fit(rows, classes)
    fitted = Linear(tuple(str(name) for name in model.classes_), model.coef_, model.intercept_)
    return Linear.from_json(fitted.to_json())


def platt(logits: FloatArray, positive: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the slope and intercept that calibrate logits, with Platt's (1999) smoothed targets.

    The smoothing keeps the slope finite where the classes are separated: a probability never exceeds what so many
    examples can support.
    """
    n, p = float((~positive).sum()), float(positive.sum())
    target = np.where(positive, (p + 1) / (p + 2), 1 / (n + 2))

    def loss(theta: FloatArray) -> float:
        z = theta[0] * logits + theta[1]
        return float(np.sum(np.logaddexp(0, z) - target * z))

    slope, intercept = minimize(loss, np.array([1.0, 0.0]), method="BFGS").x
    return round(float(slope), 6), round(float(intercept), 6)
