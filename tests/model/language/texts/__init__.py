"""Random small systems, as the text of a file that a user could write.

Every text is within the language. A few leave the model when they run: ``RISK`` percent of the places
where that is possible are written without a test before.
"""

from tests.model.language.texts.systems import systems

__all__ = ["systems"]
