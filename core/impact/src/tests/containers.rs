//! Containers that one variable alone holds, and others.

use super::check;

#[test]
fn a_container_that_one_local_holds_is_nobody_elses() {
    check(
        "  def f(a):
      own = []
-     own.append(a)
+     own.append(a + 1)
~     for item in own:
~         print(item)
~     return own
  def g(items):
      for item in items:
          yield item
      return items[0]
",
    );
}

#[test]
fn a_container_that_others_see_is_shared() {
    check(
        "  def f(a, into):
      own = []
      into.own = own
-     own.append(a)
+     own.append(a + 1)
  def g(items):
~     first = items[0]
~     return first
",
    );
}

#[test]
fn what_is_put_behind_another_name_arrives() {
    check(
        "  def f(a):
      one = []
      other = one
-     other.append(a)
+     other.append(a + 1)
~     return one[0]
",
    );
}

#[test]
fn containers_of_attributes_and_globals_are_told_apart_by_their_names() {
    check(
        "  SEEN = {}
  class Log:
      def __init__(self):
          self.lines = []
          self.levels = []
      def add(self, line):
-         self.lines.append(line)
+         self.lines.append(line * 2)
          self.levels.append(1)
      def text(self):
~         return ''.join(self.lines)
      def level(self):
          return self.levels[0]
  def see(name):
      if name in SEEN:
          return SEEN[name]
      SEEN[name] = 1
",
    );
}

#[test]
fn a_container_that_an_attribute_shares_is_shared() {
    check(
        "  class Log:
      def __init__(self, lines):
          self.lines = lines
      def add(self, line):
-         self.lines.append(line)
+         self.lines.append(line * 2)
  def f(lines):
~     return lines[0]
",
    );
}
