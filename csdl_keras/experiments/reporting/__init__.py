"""Reports a results folder beside the paper's Table 2: tables, figures and the paper's claims."""
