//! The paper's examples (Figures 1 and 4) in Python.

use super::{check, check_from};

/// Figure 1 with functions that nobody knows. The bodies of all procedures that get `locale` or a delimiter are impacted.
#[test]
fn figure_1_without_knowledge() {
    check(
        "\
+ line_delim = '\\n'
  def print_product_info(name, version):
      global line_delim
      prin = 0
-     print_header('\\n')
+     print_header(line_delim)
~     locale = locale_ok()
      if name:
~         prin = print_name(locale)
~     if version and prin:
~         prin = print_major_vers(locale)
-         prin = print_minor_vers(locale, '\\n')
+         line_delim = '\\0'
+         prin = print_minor_vers(locale, line_delim)
~     return prin
  def print_header(delim):
~     printf('%s%c', HEADER, delim)
  def locale_ok():
-     return 1 if setlocale(LC_ALL, '') else 0
+     return not not setlocale(LC_ALL, '')
  def print_name(locale):
~     if locale:
~         printf('%s', 'Coreutils')
~         return 1
~     return 0
  def print_major_vers(locale):
~     if locale:
~         printf('%s', '8')
~         return 1
~     return 0
  def print_minor_vers(locale, delim):
~     if locale:
~         printf('%s%c', '.12', delim)
~         return 1
~     return 0
",
    );
}

/// Figure 1. Beyond the changed lines, only the print of `print_minor_vers` is impacted: `locale_ok` gives the same in both
/// versions, and so does `print_minor_vers`, which prints another delimiter.
#[test]
fn figure_1() {
    check_from(
        "print_product_info",
        "\
+ line_delim = '\\n'
  import locale as library
  def print_product_info(name, version):
      global line_delim
      prin = 0
-     print_header('\\n')
+     print_header(line_delim)
      locale = locale_ok()
      if name:
          prin = print_name(locale)
      if version and prin:
          prin = print_major_vers(locale)
-         prin = print_minor_vers(locale, '\\n')
+         line_delim = '\\0'
+         prin = print_minor_vers(locale, line_delim)
      return prin
  def print_header(delim):
      print('header', delim)
  def locale_ok():
-     return True if library.setlocale(0, '') else False
+     return not not library.setlocale(0, '')
  def print_name(locale):
      if locale:
          print('Coreutils')
          return 1
      return 0
  def print_major_vers(locale):
      if locale:
          print('8')
          return 1
      return 0
  def print_minor_vers(locale, delim):
      if locale:
~         print('.12', delim)
          return 1
      return 0
",
    );
}

/// Figure 4 where nothing says that `x` is a number: `x + 0` may be another value, and everything is impacted.
#[test]
fn figure_4_without_types() {
    check(
        "  def main(x):
-     f1(x)
+     f1(x + 0)
  def f1(x):
~     f2(x + 1)
  def f2(x):
~     f3(x + 2)
  def f3(x):
~     return x
",
    );
}

/// Figure 4. Nothing beyond the call is impacted: `x + 0` is `x`, so that `f1` gets the same.
#[test]
fn figure_4() {
    check(
        "  def main(x: int):
-     f1(x)
+     f1(x + 0)
  def f1(x):
      f2(x + 1)
  def f2(x):
      f3(x + 2)
  def f3(x):
      return x
",
    );
}
