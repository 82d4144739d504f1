import re

import mirage as mi


def test_version_is_that_of_the_build():
    assert re.fullmatch(r"\d+\.\d+\.\d+", mi.__version__)
