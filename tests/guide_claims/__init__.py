"""Sentences of guides and notebooks that go beyond their tables follow from the committed files.

A test computes figures from the files, checks what has to hold of them, such as an interval that
excludes 1 where the words are "beyond chance", and looks for the words with these figures in the
document. Words or data that change without the other fail.
"""
