//! One case for each kind of statement.

use super::check;

#[test]
fn a_value_goes_on_through_assignments_and_stops_at_new_ones() {
    check(
        "  def f(a):
-     x = a
+     x = a + 1
~     y = x
      z = a
~     x, w = y, z
      x = a
      return x
",
    );
}

#[test]
fn branches_loops_and_their_ends_depend_on_conditions() {
    check(
        "  def f(a, items):
      n = 0
      out = 1
-     while a > 0:
+     while a > 1:
~         n += 1
~         a -= 1
      out += 2
      for item in items:
          out = item
          if item == 3:
              break
      else:
          out = 7
~     if n:
~         out = 4
~     elif out:
~         out = 5
~     return out
",
    );
}

#[test]
fn a_raise_decides_whether_what_follows_runs() {
    check(
        "  def positive(x):
-     if x < 0:
+     if x <= 0:
~         raise ValueError(x)
  def f(x):
      before = 1
~     positive(x)
~     after = 2
~     return after
  def g(x):
      try:
~         positive(x)
~     except ValueError:
~         return None
      finally:
          print('done')
~     return x
",
    );
}

#[test]
fn an_assertion_raises() {
    check(
        "  def f(x):
      y = 1
-     assert x > 0
+     assert x > 1, 'too small'
~     return y
",
    );
}

#[test]
fn exceptions_carry_values_to_handlers() {
    check(
        "  def f(x):
-     raise KeyError(x)
+     raise KeyError(x, 1)
  def g(x):
      try:
~         f(x)
~     except KeyError as error:
~         return error.args
",
    );
}

#[test]
fn the_body_of_with_gets_what_is_entered() {
    check(
        "  def f(path):
-     with open(path) as file:
+     with open(path, 'rb') as file:
~         text = file.read()
~     return text
",
    );
}

#[test]
fn patterns_bind_names_and_decide() {
    check(
        "  def f(a, b):
-     point = a
+     point = b
~     match point:
~         case (x, 0):
~             return x
~         case {'y': y} if y:
~             return y
~         case _:
~             return b
",
    );
}

#[test]
fn generators_give_what_they_yield() {
    check(
        "  def numbers(n):
      yield 0
-     yield n
+     yield n + 1
  def f(n):
~     for number in numbers(n):
~         print(number)
      return n
",
    );
}

#[test]
fn coroutines_give_what_they_return() {
    check(
        "  async def g(n):
-     return n
+     return n + 1
  async def f(n):
~     x = await g(n)
      y = n
~     return x + y
",
    );
}

#[test]
fn comprehensions_and_lambdas_have_scopes_of_their_own() {
    check(
        "  def f(xs, k):
-     k = k + 1
+     k = k + 2
      x = 5
~     ys = [x * k for x in xs]
      zs = [x for x in xs]
~     g = lambda v: v + k
      print(x, zs)
~     return ys, g(1)
",
    );
}

#[test]
fn globals_and_captured_locals_are_shared() {
    check(
        "  LIMIT = 1
- STEP = 2
+ STEP = 3
  def f(x):
~     return x + STEP
  def g(x):
      return x + LIMIT
  def counter():
      count = 0
      def add():
          nonlocal count
-         count += 1
+         count += 2
      def get():
~         return count
      return add, get
",
    );
}

#[test]
fn attributes_are_told_apart_by_name() {
    check(
        "  class Point:
      def __init__(self, x, y):
-         self.x = x
+         self.x = x * 2
          self.y = y
      def right(self):
~         return self.x
      def up(self):
          return self.y
  def f():
      point = Point(1, 2)
~     print(point.right())
      print(point.up())
",
    );
}

#[test]
fn a_default_reaches_those_that_do_not_give_the_argument() {
    check(
        "- def f(a, b=1):
+ def f(a, b=2):
      print(a)
~     return b
  def g():
      x = f(1, 5)
~     y = f(1)
      print(x)
~     return y
",
    );
}

#[test]
fn summaries_keep_call_sites_apart() {
    check(
        "  def same(v):
~     return v
  def f(a):
-     x = same(a)
+     x = same(a + 1)
      y = same(a)
      print(y)
~     return x
",
    );
}

#[test]
fn methods_are_found_by_class_and_by_name() {
    check(
        "  class A:
      def run(self):
-         return 1
+         return 2
  class B:
      def go(self):
          return 3
  def f(one, other):
~     x = one.run()
      y = other.go()
~     return x + y
",
    );
}

#[test]
fn a_statement_that_moves_within_its_dependences_is_not_changed() {
    let old = "def f(a, b):\n    y = b\n    x = a\n    return x, y\n";
    let new = "def f(a, b):\n    x = a\n    y = b\n    return x, y\n";
    assert_eq!(super::marked(old, new), "  def f(a, b):\n      x = a\n      y = b\n      return x, y\n");
}

#[test]
fn statements_that_change_places_change_what_they_read() {
    let old = "def f(a):\n    x = a\n    y = x\n    return y\n";
    let new = "def f(a, x=0):\n    y = x\n    x = a\n    return y\n";
    let found = super::marked(old, new);
    assert!(found.contains("~     y = x") || found.contains("+     y = x"), "{found}");
    assert!(found.contains("~     return y"), "{found}");
}

#[test]
fn a_removed_statement_impacts_what_read_it() {
    check(
        "  def f(a):
      x = a
-     x = x + 1
~     return x
",
    );
}

#[test]
fn a_new_override_takes_calls_away() {
    check(
        "  class A:
      def run(self):
~         return 1
  class B(A):
+     def run(self):
+         return 2
      def go(self):
~         return self.run()
",
    );
}

#[test]
fn what_never_runs_impacts_nothing() {
    check(
        "  import typing
  def f(a):
      if typing.TYPE_CHECKING:
-         a = 1
+         a = 2
      x = a
      return x
-     x = 3
+     x = 4
",
    );
}

#[test]
fn a_try_that_may_not_run_is_impacted() {
    check(
        "  def f(a):
-     if a:
+     if not a:
~         try:
~             return g(a)
~         except ValueError:
~             return 1
~     return 2
",
    );
}

#[test]
fn callers_from_outside_may_leave_an_argument_out() {
    check(
        "- def f(a, n=1):
+ def f(a, n=2):
      print(a)
~     print(n)
",
    );
}

#[test]
fn names_of_one_import_change_alone() {
    check(
        "  import math
- from math import floor, sqrt
+ from math import floor, ceil, sqrt
  def f(x):
      return floor(x)
",
    );
}

#[test]
fn another_exception_of_the_same_branch_reaches_handlers_alone() {
    check(
        "  def positive(x):
      if x < 0:
-         raise ValueError('negative')
+         raise ValueError('below zero')
      return x
  def f(x):
      y = positive(x)
      return y
  def g(x):
      try:
~         return positive(x)
~     except ValueError as error:
~         return str(error)
",
    );
}
