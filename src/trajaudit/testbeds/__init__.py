"""Testbeds: worlds in which every fault is put there on purpose, so that its label is exact and costs nothing.

``draw`` is the seeded stream that every random choice comes from, ``replay`` the injector that all testbeds share, and
``probes`` says which shortcuts a generated set leaves open. A testbed is a folder of its own beside them.
"""
