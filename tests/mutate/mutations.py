# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""What may be done to a header: every small change of its code, one at a time.

Only the bodies of functions and of macros are touched. The rest declares things, and a declaration
that is wrong does not compile.
"""
import re
from collections import namedtuple

# What stands between @start and @end of the text is replaced by @new; it begins on @line.
Mutation = namedtuple("Mutation", "line what start end new")

TOKEN = re.compile(
    r"""
      (?P<comment>/\*.*?\*/|//[^\n]*)
    | (?P<define>^[ \t]*\#[ \t]*define[ \t]+\w+(?:\([^)]*\))?)
    | (?P<cpp>^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
    | (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<number>0[xX][0-9a-fA-F]+[uUlL]*|\d+[uUlL]*)
    | (?P<word>\w+)
    | (?P<op><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^~!<>=?:;,.(){}\[\]])
    | (?P<newline>\n)
    """,
    re.X | re.S | re.M,
)

COMPARE = {"<": ["<="], "<=": ["<"], ">": [">="], ">=": [">"], "==": ["!="], "!=": ["=="]}
BINARY = {
    "+": ["-"],
    "-": ["+"],
    "*": ["+"],
    "<<": [">>"],
    ">>": ["<<"],
    "&": ["|"],
    "|": ["&"],
    "&&": ["||"],
    "||": ["&&"],
    "+=": ["-=", "="],
    "-=": ["+=", "="],
    "*=": ["="],
    "|=": ["&=", "="],
    "++": ["--"],
}
TYPES = {"void", "bool", "unsigned", "int", "long", "char", "size_t", "u64", "s64", "const", "struct"}
KEYWORDS = {"if", "while", "for", "do", "else", "return", "switch", "case", "default"}
# Weaker than what binds the operands of && and ||.
STOPS = {"(", "[", "{", ",", ";", "?", ":", "="}

Token = namedtuple("Token", "kind text start end")


def tokens_of(text):
    return [
        Token(m.lastgroup, m.group(), m.start(), m.end())
        for m in TOKEN.finditer(text)
        if m.lastgroup not in ("comment",)
    ]


def is_type(word):
    return word in TYPES or word.endswith("_t")


class Header:
    def __init__(self, text):
        self.text = text
        self.all = tokens_of(text)
        self.found = {}

    def add(self, start, end, new, what=None):
        old = self.text[start:end]
        # The lines that follow stay where they are.
        new += "\n" * (old.count("\n") - new.count("\n"))
        if new.split() == old.split():
            return
        line = self.text.count("\n", 0, start) + 1
        if what is None:
            what = "%s -> %s" % (" ".join(old.split()), " ".join(new.split()))
        self.found.setdefault((start, end, new), Mutation(line, what, start, end, new))

    # Runs of tokens that are code: what stands between the braces of a function, and of a macro
    # what it is replaced by. With each, what stands before the braces.
    def bodies(self):
        depth, body, macro, head = 0, [], None, []
        for t in self.all:
            if macro is not None:
                if t.kind == "newline" and self.text[t.start - 1] != "\\":
                    yield macro, []
                    macro = None
                elif t.kind != "newline":
                    macro.append(t)
                continue
            if t.kind == "define":
                macro = []
            elif t.kind in ("newline", "cpp"):
                continue
            elif t.text == "{":
                depth += 1
                body.append(t)
            elif t.text == "}":
                depth -= 1
                body.append(t)
                if not depth:
                    yield body, head
                    body, head = [], []
            elif depth:
                body.append(t)
            elif t.text == ";":
                head = []
            else:
                head.append(t.text)

    def functions(self):
        """Of each function: its first and last line, where its body begins, its name."""
        found = []
        for body, head in self.bodies():
            if body and body[0].text == "{" and self.is_function(body[0]):
                lines = [self.text.count("\n", 0, at) + 1 for at in (body[0].start, body[-1].start)]
                found.append((lines[0], lines[1], body[0].end, head[head.index("(") - 1]))
        return found

    # Not a struct.
    def is_function(self, brace):
        return self.text[: brace.start].rstrip().endswith(")")

    def mutations(self):
        for body, head in self.bodies():
            self.returns_bool = "(" in head and "bool" in head[: head.index("(")]
            match = brackets(body)
            for i in range(len(body)):
                self.token(body, match, i)
            self.statements(body, match)
        return sorted(self.found.values(), key=lambda m: (m.line, m.start, m.what))

    def token(self, body, match, i):
        t = body[i]
        if t.kind == "number":
            self.number(t)
        elif t.text in ("true", "false"):
            self.add(t.start, t.end, "false" if t.text == "true" else "true")
        elif t.text == "!" and body[i + 1].text != "!":
            self.add(t.start, t.end, " ", "! dropped before " + body[i + 1].text)
        elif t.text in ("if", "while"):
            self.condition(body, match, i)
        elif t.text == "?":
            self.ternary(body, match, i)
        elif t.text == "(" and self.is_cast(body, match, i):
            self.add(t.start, body[match[i]].end, " ", "cast dropped: " + self.cut(body, i, match[i]))
        elif t.kind == "op":
            self.operator(body, match, i)

    def cut(self, body, i, j):
        return " ".join(self.text[body[i].start : body[j].end].split())

    def number(self, t):
        digits = t.text.rstrip("uUlL")
        suffix = t.text[len(digits) :]
        n = int(digits, 0)
        for other in [n + 1] + ([n - 1] if n else []):
            self.add(t.start, t.end, "%d%s" % (other, suffix))

    def is_cast(self, body, match, i):
        inside = body[i + 1 : match[i]]
        if not inside or i + 1 == len(body) or match[i] + 1 >= len(body):
            return False
        if inside[0].text in ("void", "__force") or not all(is_type(t.text) for t in inside):
            return False
        follows = body[match[i] + 1]
        return follows.kind in ("word", "number") or follows.text in ("(", "~", "-")

    def operator(self, body, match, i):
        t = body[i]
        for new in COMPARE.get(t.text, []):
            self.add(t.start, t.end, new, self.around(body, i, new))
        if t.text not in BINARY or not self.is_binary(body, i):
            return
        for new in BINARY[t.text]:
            self.add(t.start, t.end, new, self.around(body, i, new))
        if t.text in ("&&", "||", "|"):
            self.operands(body, match, i)

    def around(self, body, i, new):
        before, after = body[max(i - 1, 0)].text, body[min(i + 1, len(body) - 1)].text
        old = body[i].text
        return "%s %s %s -> %s %s %s" % (before, old, after, before, new, after)

    @staticmethod
    def is_binary(body, i):
        if body[i].text in ("++", "--", "&&", "||", "|") or body[i].text[-1] == "=":
            return True
        if not i:
            return False
        before = body[i - 1]
        if before.kind == "word":
            known = is_type(before.text) or before.text in KEYWORDS
            tag = i > 1 and body[i - 2].text in ("struct", "const")
            return not known and not tag
        return before.kind == "number" or before.text in (")", "]")

    # Of an operator: where what it joins begins and ends, up to brackets and weaker operators.
    def operands(self, body, match, i):
        weaker = {"|": {"&&", "||"}, "&&": {"||"}, "||": set()}
        stops = STOPS | weaker[body[i].text]
        left = i
        while left > 0 and body[left - 1].text not in stops and body[left - 1].text != "return":
            left = match[left - 1] if body[left - 1].text in (")", "]") else left - 1
        right = i
        ends = (stops - {"(", "["}) | {")", "]", "}", "&&", "|"}
        while right + 1 < len(body) and body[right + 1].text not in ends:
            right = match[right + 1] if body[right + 1].text in ("(", "[") else right + 1
        if left == i or right == i:
            return
        whole = (body[left].start, body[right].end)
        a = self.text[body[left].start : body[i - 1].end]
        b = self.text[body[i + 1].start : body[right].end]
        self.add(*whole, a, "dropped: %s %s" % (body[i].text, " ".join(b.split())))
        self.add(*whole, b, "dropped: %s %s" % (" ".join(a.split()), body[i].text))

    def condition(self, body, match, i):
        if body[i + 1].text != "(":
            return
        first, last = body[i + 1], body[match[i + 1]]
        inner = self.text[first.end : last.start]
        what = "%s (%s)" % (body[i].text, " ".join(inner.split()))
        # Of what begins with ! that has been done already.
        if inner[0] != "!" or "&&" in inner or "||" in inner:
            self.add(first.end, last.start, "!(%s)" % inner, "%s: negated" % what)
        self.add(first.end, last.start, "0", "%s: never" % what)
        if body[i].text == "if":
            self.add(first.end, last.start, "1", "%s: always" % what)

    def ternary(self, body, match, i):
        left = i
        while body[left - 1].text not in {"(", "[", ",", ";", "="} and body[left - 1].text != "return":
            left = match[left - 1] if body[left - 1].text in (")", "]") else left - 1
        start, end = body[left].start, body[i - 1].end
        what = self.text[start:end]
        self.add(start, end, "1", "%s ?: always" % what)
        self.add(start, end, "0", "%s ?: never" % what)

    # Each statement: gone, or what it returns another.
    def statements(self, body, match):
        i = 0
        while i < len(body):
            t = body[i]
            begins = i == 0 or body[i - 1].text in ("{", "}", ";", ":", "else", "do")
            begins = begins or (body[i - 1].text == ")" and self.closes_control(body, match, i - 1))
            if t.text == "for":
                i = match[i + 1] + 1
                continue
            if not begins or t.text in ("{", "}", ";") or (t.text in KEYWORDS and t.text != "return"):
                i += 1
                continue
            end = i
            while end < len(body) and body[end].text not in (";", "{"):
                end = match.get(end, end) + 1 if body[end].text in ("(", "[") else end + 1
            if end == len(body) or body[end].text == "{":
                i += 1
                continue
            self.statement(body, i, end)
            i = end

    @staticmethod
    def closes_control(body, match, i):
        opening = match[i]
        return opening > 0 and body[opening - 1].text in ("if", "while", "for")

    def statement(self, body, i, end):
        text = self.cut(body, i, end)
        if body[i].text == "return":
            if end > i + 2 or (end == i + 2 and body[i + 1].kind == "word"):
                start, stop = body[i + 1].start, body[end - 1].end
                expr = self.text[start:stop]
                if self.returns_bool:
                    self.add(start, stop, "!(%s)" % expr, "%s returns the contrary" % text)
                else:
                    self.add(start, stop, "0", "%s returns 0" % text)
                    self.add(start, stop, "(%s) + 1" % expr, "%s returns one more" % text)
            return
        declares = is_type(body[i].text) and body[i + 1].text != "("
        unused = text.startswith("(void)")
        if declares or unused or body[i + 1].text == ":":
            return
        self.add(body[i].start, body[end].end, ";", "dropped: " + text)


def brackets(body):
    match, stack = {}, []
    for i, t in enumerate(body):
        if t.text in ("(", "[", "{"):
            stack.append(i)
        elif t.text in (")", "]", "}") and stack:
            j = stack.pop()
            match[i], match[j] = j, i
    return match


def mutations(text):
    return Header(text).mutations()


def functions(text):
    return Header(text).functions()


def numbered(text, first):
    """Each function says a number, from @first on, on the way in."""
    for i, (_, _, at, _) in reversed(list(enumerate(functions(text)))):
        text = text[:at] + " reached(%d);" % (first + i) + text[at:]
    return text


def apply(text, m):
    return text[: m.start] + m.new + text[m.end :]
