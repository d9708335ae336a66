//! Statements that see other values by a way that is easy to overlook.

use super::check;

#[test]
fn an_import_fails_where_a_handler_waits() {
    check(
        "  try:
      import fast as engine
  except ImportError:
-     engine = None
+     engine = 0
  def f():
~     return engine
",
    );
    check(
        "  def f():
      try:
          from . import fast
          is_fast = True
      except ImportError:
-         is_fast = False
+         is_fast = None
~     return is_fast
",
    );
}

#[test]
fn a_name_that_nothing_binds_fails_where_a_handler_waits() {
    check(
        "  def f(a):
      if a:
          x = 0
      try:
          y = x
      except NameError:
-         y = 1
+         y = 2
~     return y
",
    );
}

#[test]
fn a_handler_sees_a_name_as_it_was_before_what_failed() {
    check(
        "  def f(s):
-     x = 0
+     x = 1
      try:
          x = s[3]
      except IndexError:
          pass
~     return x
",
    );
}

#[test]
fn a_call_that_never_returns_decides_what_follows() {
    check(
        "  import sys
  def f(x):
-     if x > 2:
+     if x > 1:
~         sys.exit(1)
~     print('after')
  def g(x):
~     f(x)
~     print('later')
  def h(x):
      print('apart')
",
    );
    check(
        "  def f(x):
-     x > 2 or quit()
+     x > 1 or quit()
~     print('after')
",
    );
}

#[test]
fn a_library_calls_methods_of_a_class_that_has_its_ancestor() {
    check(
        "  from html.parser import HTMLParser
  class Tags(HTMLParser):
      def __init__(self):
          super().__init__()
          self.seen = []
      def handle_starttag(self, tag, attributes):
-         self.seen.append(tag)
+         self.seen.append(tag * 2)
  def f():
      tags = Tags()
~     tags.feed('<a>')
~     return len(tags.seen)
",
    );
    check(
        "  import json
  class Encoder(json.JSONEncoder):
      def default(self, value):
-         return 1
+         return 2
  def f(value):
~     return json.dumps(value, cls=Encoder)
  def g(value):
~     return Encoder().encode(value)
  def h(value):
      return json.dumps(value)
",
    );
}

#[test]
fn what_a_library_holds_is_outside() {
    check(
        "  import math, os
  def put():
-     os.environ['A'] = '1'
+     os.environ['A'] = '2'
  def f():
~     return os.environ['A']
  def g():
~     return os.environ.get('A')
  def h():
      return math.sqrt(4)
",
    );
    check(
        "  import sys
  def put(stream):
-     sys.stdout = stream
+     sys.stdout = str(stream)
  def f():
~     return sys.stdout
  def g():
~     return sys.stdin.read()
",
    );
}

#[test]
fn what_a_generator_returns_is_the_value_of_yield_from() {
    check(
        "  def g():
      yield 1
-     return [1]
+     return [2]
  def f():
~     r = yield from g()
~     for x in r:
~         yield x
",
    );
}

#[test]
fn a_class_in_a_class_has_attributes() {
    check(
        "  class A:
      class Meta:
-         size = 1
+         size = 2
  class B(A):
      def own(self):
~         return self.Meta.size
  class C:
      class Meta:
          size = 3
  def f():
~     return A.Meta.size
  def g():
~     return B.Meta.size
  def h():
      return C.Meta.size
",
    );
}

#[test]
fn an_object_has_a_function_of_its_own() {
    check(
        "  class A:
      def f(self):
          return 1
  def new():
-     return 2
+     return 3
  def g():
      a = A()
      a.f = new
~     return a.f()
",
    );
}
