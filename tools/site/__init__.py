"""The guides as a site: `python -m gravure.tools.site FOLDER` (extra `docs`: Sphinx).

- `reference`: pages about all public names, made from their signatures and docstrings.
- `build`: what is put together for Sphinx, and the call.
"""
