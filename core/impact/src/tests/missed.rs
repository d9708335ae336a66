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
      tags.feed('<a>')
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
    check(
        "  from html.parser import HTMLParser
  class Tags(HTMLParser):
      def unescape(self, text):
-         return text
+         return text * 2
      def feed(self, text):
~         return super().feed(text)
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

#[test]
fn positional_patterns_read_attributes() {
    check(
        "  class P:
      __match_args__ = ('x',)
      def __init__(self, x):
-         self.x = x + 1
+         self.x = x + 2
  def f(p):
      match p:
~         case P(2):
~             print('two')
~         case P(y):
~             print(y)
",
    );
    check(
        "  from dataclasses import dataclass
  @dataclass
  class P:
      x: int
-     y: int = 3
+     y: int = 4
  def f(p):
      match p:
~         case P(a, b):
~             print(b)
",
    );
}

#[test]
fn formatting_calls_methods_and_reads_attributes() {
    check(
        "  class A:
      def __str__(self):
-         return 'a'
+         return 'b'
      def __int__(self):
          return 1
  class B:
      @property
      def b(self):
~         return str(A())
  def f():
~     return '{}'.format(A())
  def g():
~     return '{x}'.format(x=A())
  def h():
~     return '{x.b}'.format(x=B())
  def i():
      return '{}'.format(1)
",
    );
    check(
        "  class A:
      def __int__(self):
-         return 1
+         return 2
  def f():
~     return '%d' % A()
  def g():
      return '%d' % 3
",
    );
}

#[test]
fn an_object_is_called_back() {
    check(
        "  class A:
      def __call__(self, x):
-         return x
+         return not x
  def f():
~     return list(filter(A(), [0, 1]))
  def g():
~     return sorted([0, 1], key=A())
  def h():
      return sorted([0, 1])
",
    );
}

#[test]
fn stars_iterate_and_ask_for_keys() {
    check(
        "  class A:
      def __iter__(self):
-         return iter([1])
+         return iter([2])
  def f():
~     print(*A())
  def g(*rest):
~     return rest
  def h():
~     return g(*A())
",
    );
    check(
        "  class A:
      def keys(self):
          return ['k']
      def __getitem__(self, key):
-         return 1
+         return 2
  def f(**rest):
~     return rest
  def g():
~     return f(**A())
  def h():
~     return {**A()}
  def i():
      return {'k': 1}
",
    );
}

#[test]
fn sets_and_methods_of_containers_compare() {
    check(
        "  class A:
      def __eq__(self, other):
-         return True
+         return False
      def __hash__(self):
          return 1
  def f():
~     return len({A(), A()})
  def g():
~     return len(set([A(), A()]))
  def h():
~     return [A()].count(A())
  def i():
      return [1].count(1)
",
    );
}

#[test]
fn numbers_of_builtins_are_asked_for_an_index() {
    check(
        "  class A:
      def __index__(self):
-         return 1
+         return 2
  def f():
~     return list(range(A()))
  def g():
~     return [1, 2, 3][A():]
  def h():
~     return hex(A())
  def i():
      return hex(1)
",
    );
}

#[test]
fn truth_in_an_expression_calls_methods() {
    check(
        "  class A:
      def __bool__(self):
-         return True
+         return False
  def f():
~     return 1 if A() else 2
  def g():
~     return A() and 3
  def h():
      return 1 if 2 > 1 else 3
",
    );
}

#[test]
fn copies_and_attributes_by_text_call_methods() {
    check(
        "  import copy, operator
  class A:
      def __copy__(self):
-         return 1
+         return 2
  def f():
~     return copy.copy(A())
  def g():
      return copy.copy([1])
",
    );
    check(
        "  import operator
  class A:
      def size(self):
-         return 1
+         return 2
  def f():
~     return operator.methodcaller('size')(A())
",
    );
}

#[test]
fn members_of_an_enumeration_are_elements_of_its_class() {
    check(
        "  from enum import Enum
  class E(Enum):
-     A = 1
+     A = 2
  class F(Enum):
      A = 1
  def f():
~     return E['A'].value
  def g():
~     for one in E:
~         print(one)
  def h():
      return F['A'].value
",
    );
}

#[test]
fn a_registered_function_is_dispatched_to() {
    check(
        "  from functools import singledispatch
  @singledispatch
  def f(x):
      return 0
  @f.register
  def _(x: int):
-     return 1
+     return 2
  def g():
~     return f(1)
",
    );
}

#[test]
fn a_list_keeps_what_methods_decide() {
    check(
        "  class A:
      def __lt__(self, other):
-         return True
+         return False
  def f():
      items = [A(), A()]
~     items.sort()
~     return items[0]
  def g():
      items = [2, 1]
      items.sort()
      return items[0]
",
    );
    check(
        "  class L(list):
      def put(self, x):
-         self.append(x + 1)
+         self.append(x + 2)
  def f():
      items = L()
      items.put(1)
~     return items[0]
",
    );
}

#[test]
fn a_library_calls_special_methods_of_what_it_gets() {
    check(
        "  import math
  class A:
      def __float__(self):
-         return 2.0
+         return 9.0
      def other(self):
          return 1
  def f():
~     return math.sqrt(A())
  def g():
      return math.sqrt(4)
",
    );
}

#[test]
fn patterns_compare_and_count() {
    check(
        "  class K:
      def __eq__(self, other):
-         return True
+         return False
  def f():
      match K():
~         case 1:
~             return 'a'
  def g():
      match 2:
          case 1:
              return 'b'
",
    );
}

#[test]
fn operations_of_builtin_classes_run_methods_of_their_operands() {
    check(
        "  class Cfg(dict):
      def __missing__(self, key):
-         return key * 2
+         return key * 3
  def f():
~     return '%(q)s' % Cfg(a='1')
  def g():
~     return '{q}'.format_map(Cfg())
  def h():
~     return 'abc'.translate(Cfg())
  def i():
      return 'abc'.upper()
",
    );
    check(
        "  class I:
      def __index__(self):
-         return 3
+         return 4
      def __complex__(self):
-         return 1j
+         return 2j
  def f():
      one = I()
~     return bytes(one)
  def g():
      one = I()
~     return 'ab' * one
  def h():
      one = I()
~     return [0] * one
  def i():
      one = I()
~     return round(2.5, one)
  def j():
      one = I()
~     return 'a b c'.split(' ', one)
  def k():
      one = I()
~     return complex(one)
  def l():
      one = I()
      return str(3) * 2
",
    );
}
