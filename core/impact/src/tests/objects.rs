//! What objects an operation may be upon: special methods by the classes of operands, attributes by families of classes, and
//! containers by the places that make them.

use super::check;

#[test]
fn a_special_method_runs_where_an_operand_has_it() {
    check(
        "  class A:
      def __add__(self, other):
-         return 1
+         return 2
  class B:
      def __add__(self, other):
          return 3
  def f():
~     return A() + 1
  def g():
      return B() + 1
",
    );
}

#[test]
fn a_special_method_is_inherited_and_overridden() {
    check(
        "  class A:
      def __len__(self):
          return 1
  class B(A):
      def __len__(self):
-         return 2
+         return 3
  class C(A):
      pass
  class D:
      def __len__(self):
          return 0
      def own(self):
          return len(self)
  def f(a: A):
~     return len(a)
  def g():
      return len(C())
",
    );
}

#[test]
fn an_object_that_came_out_of_a_library_may_be_any_that_went_in() {
    check(
        "  import queue
  waiting = queue.Queue()
  class A:
      def __add__(self, other):
-         return 1
+         return 2
  def put():
      waiting.put(A())
  def get():
      one = waiting.get()
~     return one + 1
",
    );
}

#[test]
fn elements_of_containers_have_special_methods() {
    check(
        "  class A:
      def __repr__(self):
-         return 'a'
+         return 'b'
  class B:
      def __repr__(self):
          return 'b'
  def f():
~     return str([A()])
  def g():
      return str([B()])
",
    );
}

#[test]
fn attributes_of_unrelated_classes_are_told_apart() {
    check(
        "  class A:
      def __init__(self):
-         self.size = 1
+         self.size = 2
  class B:
      def __init__(self):
          self.size = 3
      def own(self):
          return self.size
  class C(A):
      def own(self):
~         return self.size
  def f(unknown):
~     return unknown.size
",
    );
}

#[test]
fn an_attribute_of_an_unknown_object_may_be_that_of_any_class() {
    check(
        "  class A:
      def own(self):
~         return self.size
  def f(unknown):
-     unknown.size = 1
+     unknown.size = 2
",
    );
}

#[test]
fn containers_are_told_apart_by_the_places_that_make_them() {
    check(
        "  def first(items):
      return items
  def second(items):
      return items
  def f():
      one = first([])
-     one.append(1)
+     one.append(2)
~     return one
  def g():
      other = second([1])
      return other[0]
",
    );
}

#[test]
fn an_alias_sees_what_is_put_into_a_container() {
    check(
        "  class A:
      def __init__(self, items):
          self.items = items
      def first(self):
~         return self.items[0]
  def f():
      items = []
      one = A(items)
-     items.append(1)
+     items.append(2)
~     return one.first()
",
    );
}

#[test]
fn a_container_in_another_one_is_followed() {
    check(
        "  def f():
      rows = [[1], [2]]
      table = {'rows': rows}
-     table['rows'][0].append(1)
+     table['rows'][0].append(2)
~     return rows[0][1]
",
    );
}

#[test]
fn what_an_unknown_function_gets_it_may_change() {
    check(
        "  def f(change):
      items = []
-     change(items, 1)
+     change(items, 2)
~     return items[0]
",
    );
}

#[test]
fn a_called_value_is_one_of_those_that_reach_it() {
    check(
        "  def double(x):
-     return x + x
+     return x * 3
  def same(x):
      return x
  def f(x):
      call = same
      other = double
      return call(x)
  def g(x):
      call = double
~     return call(x)
",
    );
}

#[test]
fn a_library_calls_methods_of_its_own_classes() {
    check(
        "  import argparse
  import requests
  class Shown(argparse.Action):
      def __call__(self, parser, namespace, values, option_string=None):
~         print(values)
  def f(x):
-     requests.get(x)
+     requests.post(x)
",
    );
}

#[test]
fn a_library_calls_objects_and_functions_that_it_got() {
    check(
        "  import functools
  import requests
  class A:
      def __call__(self, x):
~         return x
  class B:
      def __call__(self, x):
          return x
  def note(x):
~     return x
~ requests.hooks(A())
~ requests.hooks(note)
  def f(x):
-     requests.get(x)
+     requests.post(x)
",
    );
}

#[test]
fn an_exception_of_a_body_reaches_the_generator_behind_the_manager() {
    check(
        "  import contextlib
  @contextlib.contextmanager
  def guarded():
      try:
~         yield
~     except ValueError:
~         print('failed')
  def f(x):
~     with guarded():
-         if x > 0:
+         if x > 1:
~             raise ValueError(x)
",
    );
}
