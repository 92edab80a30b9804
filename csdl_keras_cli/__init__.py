"""The command line `csdl-keras`: arguments of commands, read without importing `csdl_keras`.

Importing `csdl_keras` imports Keras and its backend, which takes seconds, while help, the
version and wrong arguments are to be answered at once. Each command has a module here, with
its arguments, what can be checked of them alone, and its run, which alone imports the package.
"""
