"""A recipe a paper: from its released data to its ledger."""
