"""The command line `csdl-keras`; what is imported before a command runs is quick to import."""
