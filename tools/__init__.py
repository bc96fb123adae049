"""The `gravure` command, its verbs as functions, and programs for those who work on gravure.

May import everything; nothing imports it but the package's face, for the functions.

- `cli`: finds the verbs, and turns errors into exit statuses. Start here.
- `commands/`: one verb a file; its `__init__` says what such a file holds.
- `verbs/`: what the verbs do, as functions: `gravure.inspect`, `gravure.bench` and their like.
- `talk`, `console`, `failures`, `errors`: how commands talk, and what becomes of errors.
- `options`, `watch`, `inputs`, `comparing/`, `machine`: what several verbs share.
- `completion`: the scripts of shells that `gravure completions` prints.
- `demo/`: the model and the images of `gravure demo`.
- `site/`: the guides and the reference as a site.
- every other file is run by itself: `python -m gravure.tools.NAME`.
"""
