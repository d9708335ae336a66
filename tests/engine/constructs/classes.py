"""Classes and methods."""

from .triple import triple

CONSTRUCTS = {
    "nested_class_with_private_names": triple(
        """
        def f(x):
            class Box:
                __limit = 3
                def __init__(self):
                    self.__items = [x]
                def get(self):
                    return [self.__items, self.__limit]
            return Box().get()
        """,
        """
        def f(x):
            class Box:
                __limit = 2 + 1
                def __init__(self):
                    self.__items = list([x])
                def get(self):
                    return [self._Box__items, self.__limit]
            return Box().get()
        """,
        """
        def f(x):
            class Box:
                __limit = 4
                def __init__(self):
                    self.__items = [x]
                def get(self):
                    return [self.__items, self.__limit]
            return Box().get()
        """,
    ),
    "class_body_with_missing_names_and_bases": triple(
        """
        def f(x):
            class Model(db.Model, Mixin):
                id = db.Column(db.Integer)
                kind = Kind
                def value(self):
                    return [x, 1]
            return Model().value()
        """,
        """
        def f(x):
            class Model(db.Model, Mixin):
                id = db.Column(db.Integer)
                kind = Kind
                def value(self):
                    found = [x]
                    found.append(1)
                    return found
            return Model().value()
        """,
        """
        def f(x):
            class Model(db.Model, Mixin):
                id = db.Column(db.Integer)
                kind = Kind
                def value(self):
                    return [x, 2]
            return Model().value()
        """,
    ),
    "super_without_arguments": triple(
        """
        class A(Base):
            def f(self, x):
                super().f(x, 1)
                return 1
        """,
        """
        class A(Base):
            def f(self, x):
                parent = super()
                parent.f(x, 1)
                return 1
        """,
        """
        class A(Base):
            def f(self, x):
                super().f(x, 2)
                return 1
        """,
    ),
    "super_with_arguments": triple(
        """
        class A(Base):
            def f(self, x):
                super(A, self).f(x, 1)
                return 1
        """,
        """
        class A(Base):
            def f(self, x):
                super().f(x, 1)
                return 1
        """,
        """
        class A(Base):
            def f(self, x):
                super(A, self).f(x)
                return 1
        """,
    ),
    "super_in_a_nested_class": triple(
        """
        def f(x):
            class A:
                def name(self):
                    return [x]
            class B(A):
                def name(self):
                    return [super().name(), 1]
            return isinstance(B().name(), list)
        """,
        """
        def f(x):
            class A:
                def name(self):
                    return [x]
            class B(A):
                def name(self):
                    return [super(B, self).name(), 1]
            return isinstance(B().name(), list)
        """,
        """
        def f(x):
            class A:
                def name(self):
                    return [x]
            class B(A):
                def name(self):
                    return (super().name(), 1)
            return isinstance(B().name(), list)
        """,
    ),
    "property_static_and_class_method_of_a_nested_class": triple(
        """
        def f(x):
            class Box:
                size = 3
                @property
                def double(self):
                    return self.size * 2
                @staticmethod
                def fixed(value):
                    return [value]
                @classmethod
                def made(cls):
                    return cls()
            return [Box.made().double, Box.fixed(x)]
        """,
        """
        def f(x):
            class Box:
                size = 3
                double = property(lambda self: self.size + self.size)
                fixed = staticmethod(lambda value: [value])
                made = classmethod(lambda cls: cls())
            return [Box.made().double, Box.fixed(x)]
        """,
        """
        def f(x):
            class Box:
                size = 4
                @property
                def double(self):
                    return self.size * 2
                @staticmethod
                def fixed(value):
                    return [value]
                @classmethod
                def made(cls):
                    return cls()
            return [Box.made().double, Box.fixed(x)]
        """,
    ),
    "property": triple(
        """
        class A:
            @property
            def f(self):
                return [self.size, 1]
        """,
        """
        class A:
            @property
            def f(self):
                size = self.size
                return [size, 1]
        """,
        """
        class A:
            @property
            def f(self):
                return [self.size, 2]
        """,
    ),
    "static_method": triple(
        """
        class A:
            @staticmethod
            def f(x):
                return [x, 1]
        """,
        """
        class A:
            @staticmethod
            def f(x):
                return [x] + [1]
        """,
        """
        class A:
            @staticmethod
            def f(x):
                return [x, 2]
        """,
    ),
    "class_method": triple(
        """
        class A:
            @classmethod
            def f(cls, x):
                return [cls.kind, x, 1]
        """,
        """
        class A:
            @classmethod
            def f(cls, x):
                kind = cls.kind
                return [kind, x, 1]
        """,
        """
        class A:
            @classmethod
            def f(cls, x):
                return [cls.kind, x, 2]
        """,
    ),
    "private_names_of_the_class_around": triple(
        """
        class A:
            def f(self, x):
                self.__value = x
                return [self.__value, 1]
        """,
        """
        class A:
            def f(self, x):
                self._A__value = x
                return [self.__value, 1]
        """,
        """
        class A:
            def f(self, x):
                self.__value = x
                return [self.__value, 2]
        """,
    ),
    "class_cell": triple(
        """
        class A:
            def f(self, x):
                return [__class__.__name__, x]
        """,
        """
        class A:
            def f(self, x):
                name = __class__.__name__
                return [name, x]
        """,
        """
        class A:
            def f(self, x):
                return [x, __class__.__name__]
        """,
    ),
    "dataclass_in_a_function": triple(
        """
        def f(x):
            from dataclasses import dataclass, field
            return [x, 1]
        """,
        """
        def f(x):
            import dataclasses
            return [x] + [1]
        """,
        """
        def f(x):
            from dataclasses import dataclass, field
            return [x, 2]
        """,
    ),
}
