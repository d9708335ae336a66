import pytest
from IPython.core.interactiveshell import InteractiveShell


@pytest.fixture
def shell():
    """IPython as under any kernel that is not twincell's own, with the extension loaded."""
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "twincell")
    yield shell
    InteractiveShell.clear_instance()
