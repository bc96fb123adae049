"""The `gravure` command, and programs for those who work on gravure.

May import everything; nothing imports it.

- `cli`: finds the verbs, and turns errors into exit statuses. Start here.
- `commands/`: one verb a file; its `__init__` says what such a file holds.
- `console`, `failures`, `errors`: how commands talk, and what becomes of errors.
- `options`, `watch`, `inputs`, `judges`, `machine`: what several verbs share.
- `demo/`: the model and the images of `gravure demo`.
- every other file is run by itself: `python -m gravure.tools.NAME`.
"""
