"""trajaudit: which auditor finds what went wrong inside an agent's trajectory, and at what cost."""

__version__ = "0.1.0"
