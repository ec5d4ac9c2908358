"""The language server, `graphlint server`: diagnostics as one types, quick fixes, hover, code lenses.

Needs the extra `server` (pygls). One check of the project serves all open documents; it runs in a thread, a
moment after the last change, with the editor's texts in place of the files.
"""
