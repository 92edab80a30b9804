"""The command line `csdl-keras`. Modules that load before a command runs import quickly."""
