"""C as the preprocessor sees it: comments, directives, conditionals, include guards and includes."""
