"""What the commands of `csdl-keras` run; their arguments are in `csdl_keras_cli`."""
