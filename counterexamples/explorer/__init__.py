"""The explorer: a trace, or a walk by hand, as a page.

``walk.py`` computes all that the page shows as plain JSON, ``page.py`` puts it into one self-contained
file with the style and the script of ``page/``. Nothing here knows what system it shows: how a state is
drawn is declared beside the model (``slotproof.model.language.drawing``).
"""
