//! Attributes that methods of a class answer for.

use super::check;

#[test]
fn a_class_is_asked_for_all_attributes() {
    check(
        "  class G:
      y = 5
      def __getattribute__(self, name):
-         return 1
+         return 2
      def __init__(self):
          self.x = 1
      def run(self):
~         return 3
      def own(self):
~         return self.x
  class Below(G):
      pass
  class Other:
      x = 1
  def f():
      g = G()
~     return g.x
  def h():
~     return Below().y
  def i():
~     return G().run()
  def j():
      other = Other()
      return other.x
",
    );
}

#[test]
fn a_class_answers_for_attributes_that_may_be_missing() {
    check(
        "  class Opt:
      kind = 'opt'
      def __init__(self, v=None):
          self.sure = 0
          if v is not None:
              self.v = v
          self.gone = 1
          self.late = 2
      def __getattr__(self, name):
-         return 'old'
+         return 'new'
      def run(self):
          return self.sure
      @property
      def shown(self):
          raise AttributeError
  def drop(one):
      del one.gone
  def f():
~     return Opt(1).v
  def g():
      one = Opt()
      drop(one)
~     return one.gone
  def h():
~     return Opt().shown
  def i():
      one = Opt()
      one.other = 1
~     return one.other
  def j():
~     return Opt().call()
  def k():
      one = Opt()
      return one.sure, one.run()
",
    );
}

#[test]
fn what_answers_for_an_attribute_decides_what_is_called() {
    check(
        "  class A:
      def go(self):
-         return 1
+         return 2
  class B:
      def go(self):
          return 3
  class Proxy:
      def __init__(self):
          self.kind = 'proxy'
      def __getattribute__(self, name):
          return A()
  def f():
      one = Proxy().kind
~     return one.go()
  def g():
      one = B()
      return one.go()
",
    );
}

#[test]
fn a_proxy_keeps_what_it_stands_for() {
    check(
        "  class Real:
      def __init__(self):
-         self.size = 1
+         self.size = 2
          self.other = 3
      def get(self):
~         return self.size
  class Proxy:
      def __init__(self, target):
          self._target = target
          self.count = 0
      def __getattr__(self, name):
~         return getattr(self._target, name)
      def tick(self):
          self.count += 1
          return self.count
  class Deeper(Proxy):
      def __init__(self, target):
          super().__init__(target)
          self.more = 1
  def f():
      proxy = Proxy(Real())
~     return proxy.size
  def g():
      return Proxy(Real()).tick()
  def h():
~     return Deeper(Real()).get()
",
    );
}

#[test]
fn a_proxy_gives_what_another_class_binds() {
    check(
        "  class Proxy:
      def __init__(self, target):
          self._target = target
      def __getattr__(self, name):
~         return getattr(self._target, name)
  class Real:
-     size = 1
+     size = 2
  def f():
      proxy = Proxy(Real())
~     return proxy.size
  def g():
      return Proxy(Real())._target
",
    );
}

#[test]
fn a_descriptor_answers_for_what_is_also_assigned() {
    check(
        "  class D:
      def __get__(self, one, kind):
-         return 1
+         return 2
      def __set__(self, one, value):
          pass
  class A:
      x = D()
      y = 1
  def f():
      a = A()
      a.x = 3
      a.y = 3
~     return a.x
  def g():
      return A().y
",
    );
}

#[test]
fn what_is_read_by_a_text_is_answered_for() {
    check(
        "  from operator import attrgetter
  class G:
      def __getattribute__(self, name):
~         if name.startswith('_'):
~             return object.__getattribute__(self, name)
~         return object.__getattribute__(self, '_get')(name)
      def _get(self, name):
-         return name + '1'
+         return name + '2'
  def f():
~     return G().v
  def g():
~     return attrgetter('v')(G())
  def h(x):
      match x:
~         case G(v=1):
~             return 1
",
    );
}

#[test]
fn a_class_begins_to_answer_for_its_attributes() {
    check(
        "  class G:
      def __init__(self):
          self.x = 1
+     def __getattribute__(self, name):
+         return 2
  class Opt:
      def __init__(self, v=None):
          if v:
              self.v = v
+     def __getattr__(self, name):
+         return 9
  def f():
      g = G()
~     return g.x
  def h():
~     return Opt().v
  def i(text):
      return text.upper()
",
    );
}
