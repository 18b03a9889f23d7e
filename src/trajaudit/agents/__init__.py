"""Agents that drive a testbed: a language model, by native tool calls or by calls written as JSON."""
