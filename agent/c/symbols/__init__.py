"""The symbols of a C file: by syntax tree, completed by a tolerant scan where the tree has errors."""
