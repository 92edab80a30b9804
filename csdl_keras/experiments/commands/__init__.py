"""The commands of `csdl-keras`; their arguments are in `csdl_keras_cli`."""
