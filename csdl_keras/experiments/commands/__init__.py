"""The commands of `csdl-keras`, each with its arguments beside what it runs."""
