//! What one module sees of another one.

use super::check_files;

#[test]
fn an_import_of_all_names_brings_variables() {
    check_files(
        "= cfg.py
- NAME = 'n'
+ NAME = 'm'
  LIMIT = 2
  def helper():
~     return NAME
= main.py
~ from cfg import *
~ A = NAME
  def f():
~     return NAME
  def g():
~     return f'{NAME}!'
  def h():
      return LIMIT
  class K:
~     z = NAME
  def i():
~     return [x for x in NAME]
  def j():
~     return helper()
  def k():
~     return A
  def own(NAME):
      return NAME
",
    );
}

#[test]
fn all_names_go_through_modules_between() {
    check_files(
        "= pkg/deep.py
- NAME = 1
- _HIDDEN = 3
+ NAME = 2
+ _HIDDEN = 4
  OTHER = 5
  __all__ = ['NAME']
  __all__ += ['_HIDDEN']
= pkg/middle.py
~ from .deep import *
  try:
      from fast import *
  except ImportError:
      pass
= pkg/__init__.py
~ from .middle import *
  def f():
~     return NAME
= main.py
  import pkg
~ from pkg import *
~ from pkg import NAME as renamed
  def f():
~     return NAME, _HIDDEN
  def g():
~     return pkg.NAME
  def h():
~     return renamed
  def i():
      return OTHER
",
    );
}

#[test]
fn all_names_of_a_package_are_modules_too() {
    check_files(
        "= pkg/__init__.py
  __all__ = ['part']
  from . import *
= pkg/part.py
- SIZE = 1
+ SIZE = 2
= main.py
  from pkg import *
  def f():
~     return part.SIZE
",
    );
}

#[test]
fn a_name_comes_and_goes_with_the_module_that_brings_it() {
    check_files(
        "= cfg.py
+ len = str
= main.py
~ from cfg import *
  def f(x):
~     return len(x)
  def g(x):
      return x
",
    );
}

#[test]
fn a_module_answers_for_names_that_it_has_not() {
    check_files(
        "= lazy.py
  SIZE = 1
  if SIZE:
      MAYBE = 2
  def __getattr__(name):
-     return load(name)
+     return load(name + '!')
  def load(name):
~     return name
= main.py
  import lazy
  import lazy as other
~ from lazy import late
  from lazy import SIZE as size
  def f():
~     return lazy.value
  def g():
~     return other.value()
  def h():
~     return late
  def i():
~     return lazy.MAYBE
  def j():
      return lazy.SIZE, size
  def k(module):
~     return module.value
  def l():
~     return k(lazy)
  def m():
~     return getattr(lazy, 'value')
",
    );
}
