//! The paper's examples (Figures 1 and 4) in Python. DCIA finds what is marked here.

use super::check;

/// Figure 1. The paper's DCIA impacts the bodies of all procedures that get `locale` or a delimiter. SEM-DCIA is to leave
/// only the `printf` of `print_minor_vers`: `locale_ok` is equivalent in both versions, and so all values of `locale`.
#[test]
fn figure_1() {
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

/// Figure 4. SEM-DCIA is to leave nothing but the changed line: `x + 0` is `x`, so that `f1` gets the same.
#[test]
fn figure_4() {
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
