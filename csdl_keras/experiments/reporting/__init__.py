"""A results folder beside the paper's Table 2: tables, figures, and what they say of its claims."""
