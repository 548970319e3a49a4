#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""usage: mutate.py TABLE

Every small change of include/ptebatch, one at a time (mutations.py), must be noticed. Only test files
that come to the function are asked. In the order of what it costs: those, in one format, that
noticed the change before, then all others; does it change the code at all (probe.c); the other
formats; the budget of instructions; the long tests; the explorer. The first that fails ends it. Rows
of TABLE:

	file line mutation result killed_by

result is killed, survived or equivalent: no format's code is another. What does not compile is no
mutant. What survivors.txt names survives untried, unless ALL=1. Ends with "N mutants, K killed,
S survived, E equivalent"; 1 if one survived that survivors.txt does not name.

What has been done is kept beside the table, and not done again while library, backend and tests stay
as they are. TOOL_OBJECTS: what build/ptebatch is linked from; without, nothing is explored or counted.
BENCH_CC: what compiles that which is counted.
SINCE=COMMIT: changed lines alone. ONLY=FILE[:LINE]: those alone. RETRY=1: what was killed before the
tests changed stays so. JOBS=N.
"""
import collections
import concurrent.futures
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import mutations

LIBRARY = "include/ptebatch"
CC = "clang"  # not optimising, it takes half of gcc's time
FLAGS = ["-std=gnu11", "-fno-strict-aliasing", "-fwrapv", "-w"]
PLAIN = ["tests/runner/runner.c", "tests/mutate/reached.c"] + [
    "backends/user/%s.c" % f for f in ("mem", "layout", "raw", "snapshot", "whatif")
]
# A word, blocks and hints, two words.
FORMATS = ["x86_64", "arm64", "x86_pae"]
# Only where they differ.
MORE_FORMATS = ["riscv64", "s390", "ppc64", "xen_pv"]
LONG = ["tests/validate/%s.c" % t for t in ("scan_model", "walkers", "races")]
# Where to begin, until it is known what notices changes of a file.
FIRST = {
    "scan.h": ["validate/scan", "cases/attributes", "cases/bounds", "validate/algebra"],
    "grab.h": ["validate/grab", "validate/unshared", "cases/counts", "cases/lockless"],
    "contig.h": ["validate/contig", "cases/contig", "cases/arrays"],
    "vpfn.h": ["validate/vpfn", "cases/vpfn"],
    "dax.h": ["validate/dax", "cases/counts", "cases/policy"],
    "gup_fast.h": ["cases/lockless", "cases/policy", "validate/leaf", "cases/counts", "cases/cost"],
    "mincore.h": ["cases/mincore", "cases/bounds", "cases/cost"],
    "vfio.h": ["validate/vfio_calls", "cases/vfio", "cases/vfio_runs"],
    "defs.h": ["validate/scan", "cases/attributes"],
    "defaults.h": ["validate/defaults", "validate/scan"],
}
# What the explorer is asked about a file: walkers, and the models in which it is.
EXPLORED = {
    "grab.h": ["gup_fast", "gup_fast_leaf", "dax"],
    "dax.h": ["dax", "gup_fast"],
    "gup_fast.h": ["gup_fast", "gup_fast_leaf", "dax"],
    "scan.h": ["gup_fast", "mincore"],
    "defs.h": ["gup_fast"],
    "mincore.h": ["mincore"],
    "vfio.h": ["vfio_pin", "vfio_unpin"],
    "vpfn.h": ["vfio_pin", "vfio_unpin"],
    "contig.h": ["dax", "vfio_pin"],
}
# Tests, before the code is looked at.
FIRST_ASKED = 4
LINE_4 = ("-DPTB_LINE=4",)
# Stages that are not test files.
INSTRUCTIONS, EXPLORER = "instructions", "explorer"
EXPLORE_ORDERS = [("x86_64", "sc"), ("arm64", "weak"), ("x86_pae", "tso")]
EXPLORE_BOUND = "3000"

halt = threading.Event()


def fail(text):
    sys.exit("mutate: " + text)


def read(path):
    with open(path) as f:
        return f.read()


def digest(*roots):
    h = hashlib.sha256()
    for root in roots:
        for folder, _, files in sorted(os.walk(root)):
            for name in sorted(files):
                if name.endswith((".h", ".c")):
                    h.update((folder + name).encode() + open(os.path.join(folder, name), "rb").read())
    return h.hexdigest()[:16]


def call(args, seconds=None):
    """Its output if it exits with 0, else None."""
    try:
        done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    return done.stdout if done.returncode == 0 else None


def first_failure(args, seconds, env):
    """The name of the first test that fails, or None."""
    proc = subprocess.Popen(
        args,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        text=True,
        errors="replace",
    )
    timer = threading.Timer(seconds, kill_group, [proc])
    timer.start()
    name, ended = None, False
    for line in proc.stdout:
        if line.startswith("not ok "):
            name = line.split(" - ", 1)[1].split()[0]
            break
        ended = ended or line.startswith("1..")
    timer.cancel()
    kill_group(proc)
    proc.stdout.close()
    proc.wait()
    return name or (None if ended else "%s does not end" % os.path.basename(args[0]))


def kill_group(proc):
    try:
        os.killpg(proc.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Bench:
    """A directory with a copy of the library, in which one mutant at a time is tried."""

    def __init__(self, path, base):
        self.path, self.base = path, base
        self.include = os.path.join(path, "include")
        self.restore()

    def restore(self):
        shutil.rmtree(self.path, ignore_errors=True)
        shutil.copytree("include", self.include)

    def out(self, name):
        return os.path.join(self.path, name)

    def compile(self, args, source, out):
        includes = ["-I" + self.include, "-Ibackends/user", "-Itests"]
        return call([CC, *FLAGS, *args, *includes, source, "-o", self.out(out)]) is not None

    def test(self, source, fmt, thin, seconds, more=()):
        """Of a test file: the first that fails, None if none does, False if it does not compile."""
        args = ["-O0", "-DTESTS_PLAIN_RUNNER", "-DPTB_USER_HOOKS", "-c", *more]
        args += ["-DPTB_FMT_HEADER=\"fmt/%s.h\"" % fmt, "-DHARNESS_THIN=%d" % thin]
        if not self.compile(args, source, "test.o"):
            return False
        if call(["gcc", self.out("test.o"), *self.base, "-o", self.out("test")]) is None:
            return False
        env = dict(os.environ, REACHED=self.out("reached"))
        return first_failure([self.out("test"), "-t", str(seconds)], 3 * seconds, env)

    def code(self, fmt, more=()):
        """What the library compiles to, or None."""
        args = ["-O2", "-DPTB_USER_HOOKS", "-S", "-DPTB_FMT_HEADER=\"fmt/%s.h\"" % fmt, *more]
        # Warnings name their file.
        args.append("-fmacro-prefix-map=%s=include" % self.include)
        if not self.compile(args, "tests/mutate/probe.c", "probe.s"):
            return None
        return hashlib.sha256(read(self.out("probe.s")).encode()).hexdigest()

    def write(self, path, text):
        with open(os.path.join(self.path, path), "w") as f:
            f.write(text)


class Mutate:
    def __init__(self, table):
        self.table = table
        self.state = os.path.join(os.path.dirname(table), "mutate")
        self.jobs = int(os.environ.get("JOBS") or os.cpu_count())
        self.lock = threading.Lock()
        self.killers = {}
        self.rows = {}
        self.short = [f for f in self.test_files() if f not in LONG]
        self.seconds = {}
        self.explained = read("tests/mutate/survivors.txt").splitlines()
        self.names, self.named = {}, collections.Counter()

    @staticmethod
    def test_files():
        found = []
        for folder in ("tests/cases", "tests/validate"):
            found += [os.path.join(folder, f) for f in sorted(os.listdir(folder)) if f.endswith(".c")]
        return found

    # ---- what is there ----

    def changed(self):
        """Lines by file that differ from a commit, or None: all."""
        since = os.environ.get("SINCE")
        if not since:
            return None
        out = call(["git", "diff", "-U0", since, "--", LIBRARY])
        if out is None:
            fail("no commit is called %s" % since)
        lines, path = {}, None
        for line in out.decode().splitlines():
            if line.startswith("+++ "):
                path = line[6:]
            m = re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line)
            if m:
                first, nr = int(m.group(1)), int(m.group(2) or 1)
                lines.setdefault(path, set()).update(range(first, first + nr))
        return lines

    def mutants(self):
        changed = self.changed()
        only = (os.environ.get("ONLY") or "").partition(":")
        for folder, _, files in sorted(os.walk(LIBRARY)):
            for name in sorted(files):
                path = os.path.join(folder, name)
                if only[0] and only[0] != name:
                    continue
                text = read(path)
                for m in mutations.mutations(text):
                    self.call_it(path, text, m)
                    if only[2] and int(only[2]) != m.line:
                        continue
                    if changed is None or m.line in changed.get(path, ()):
                        yield path, text, m

    # As in survivors.txt: by what stands there, not by its line, which may move.
    def call_it(self, path, text, m):
        found = [f[3] for f in mutations.functions(text) if f[0] <= m.line <= f[1]]
        line = " ".join(text.splitlines()[m.line - 1].split())
        where = "%s %s" % (os.path.relpath(path, LIBRARY), found[0] if found else "-")
        name = "%s: %s: %s" % (where, line, m.what)
        self.named[name] += 1
        if self.named[name] > 1:
            name += " #%d" % self.named[name]
        self.names[self.key(path, text, m)] = name

    # ---- what was done before ----

    def resume(self):
        os.makedirs(self.state, exist_ok=True)
        self.marks = [digest(LIBRARY), digest("backends/user", "tests")]
        log = os.path.join(self.state, "log.tsv")
        old = read(log).splitlines() if os.path.exists(log) else []
        keep = []
        if old and old[0].split("\t") == self.marks:
            keep = old[1:]
        elif os.environ.get("RETRY"):
            keep = [r for r in old[1:] if r.split("\t")[4] in ("killed", "invalid")]
        for row in keep:
            self.rows[row.split("\t")[0]] = row.split("\t")[1:]
        self.log = open(log, "w")
        for row in ["\t".join(self.marks)] + keep:
            print(row, file=self.log, flush=True)

    @staticmethod
    def key(path, text, m):
        return hashlib.sha256((path + mutations.apply(text, m)).encode()).hexdigest()[:16]

    def done(self, path, text, m, result, by):
        name = os.path.relpath(path, LIBRARY)
        row = [name, str(m.line), m.what.replace("\t", " "), result, by]
        with self.lock:
            key = self.key(path, text, m)
            self.rows[key] = row
            print("\t".join([key] + row), file=self.log, flush=True)

    # ---- before the first: what all need, who comes where, and that nothing fails unchanged ----

    def prepare(self):
        base = os.path.join(self.state, "base")
        os.makedirs(base, exist_ok=True)
        self.base = []
        for source in PLAIN:
            out = os.path.join(base, os.path.basename(source)[:-2] + ".o")
            args = ["-O1", "-DTESTS_PLAIN_RUNNER", "-Iinclude", "-Ibackends/user", "-Itests", "-c"]
            if call([CC, *FLAGS, *args, source, "-o", out]) is None:
                fail("%s does not compile" % source)
            self.base.append(out)
        self.base.append("-lzstd")
        self.free = [Bench(os.path.join(self.state, str(i)), self.base) for i in range(self.jobs)]
        self.number()
        jobs = [(f, fmt) for fmt in FORMATS for f in self.test_files()]
        self.each(jobs, self.control, "unchanged")
        for bench in self.free:
            bench.restore()
        self.codes = {}
        self.counted = self.instructions(self.free[0]) is None
        if not self.counted:
            print("mutate: what is right but slow goes unseen: no budget of this build", file=sys.stderr)

    # Functions of all headers have one row of numbers.
    def number(self):
        self.functions, first = {}, 0
        for folder, _, files in sorted(os.walk(LIBRARY)):
            for name in sorted(files):
                path = os.path.join(folder, name)
                found = mutations.functions(read(path))
                self.functions[path] = [(first + i, f[0], f[1]) for i, f in enumerate(found)]
                for bench in self.free:
                    bench.write(path, mutations.numbered(read(path), first))
                first += len(found)
        self.reach = {}

    def control(self, job, bench):
        source, fmt = job
        begin = time.time()
        failed = bench.test(source, fmt, 10, 120, ["-include", "tests/mutate/reached.h"])
        if failed is not None:
            failed = failed or "does not compile"
            fail("%s, %s: fails without a change: %s" % (source, fmt, failed))
        self.seconds[source, fmt] = time.time() - begin
        with open(bench.out("reached"), "rb") as f:
            self.reach[source, fmt] = f.read()

    # A test file comes to a line if it comes to the function; of macros nobody knows.
    def reaches(self, source, fmt, path, line):
        fmt = fmt if fmt in FORMATS else FORMATS[0]
        for number, first, last in self.functions[path]:
            if first <= line <= last:
                return self.reach[source, fmt][number]
        return True

    # ---- one mutant ----

    def order(self, path):
        known = self.killers.get(path, [])
        first = ["tests/%s.c" % f for f in FIRST.get(os.path.basename(path), [])]
        found = []
        for f in known + first + self.short:
            if f in self.short and f not in found:
                found.append(f)
        return found

    def killed(self, path, source, by):
        with self.lock:
            known = self.killers.setdefault(path, [])
            if source in known:
                known.remove(source)
            known.insert(0, source)
        return "killed", by

    def limit(self, source, fmt, thin):
        seconds = self.seconds[source, fmt if fmt in FORMATS else FORMATS[0]]
        return int(10 + 8 * seconds * 10 / thin)

    def run_tests(self, path, line, files, fmt, thin, bench):
        for source in files:
            if not self.reaches(source, fmt, path, line):
                continue
            failed = bench.test(source, fmt, thin, self.limit(source, fmt, thin))
            if failed is False:
                return "invalid", "-"
            if failed:
                return self.killed(path, source, failed)
        return None

    # Is the code of a format another.
    def differs(self, fmt, bench, more=()):
        if (fmt, more) not in self.codes:
            self.codes[fmt, more] = self.plain_code(fmt, more)
        return bench.code(fmt, more) != self.codes[fmt, more]

    def plain_code(self, fmt, more):
        with self.lock:
            if not hasattr(self, "plain"):
                self.plain = Bench(os.path.join(self.state, "plain"), self.base)
            return self.plain.code(fmt, more)

    def judge(self, path, m, bench):
        if self.names[self.key(path, read(path), m)] in self.explained and not os.environ.get("ALL"):
            return "survived", "-"
        differs = {}

        def other(fmt, more=()):
            if (fmt, more) not in differs:
                differs[fmt, more] = self.differs(fmt, bench, more)
            return differs[fmt, more]

        # Most are noticed by the first; what is the same code need not be asked for by all others.
        order = self.order(path)
        for files in (order[:FIRST_ASKED], order[FIRST_ASKED:]):
            verdict = self.run_tests(path, m.line, files, FORMATS[0], 10, bench)
            if verdict:
                return verdict
            if not other(FORMATS[0]) and not other(FORMATS[0], LINE_4):
                break
        if bench.code(FORMATS[0]) is None:
            return "invalid", "-"
        if not any(other(f) for f in FORMATS + MORE_FORMATS) and not other(FORMATS[0], LINE_4):
            return ("equivalent", "-") if self.compiled(path, m, bench) else ("survived", "-")
        stages = [(self.short, f, 10) for f in FORMATS[1:]]
        stages += [(INSTRUCTIONS, None, None)]
        stages += [(LONG, f, 10) for f in FORMATS]
        stages += [(EXPLORER, None, None)]
        stages += [(self.short, f, 10) for f in MORE_FORMATS]
        stages += [(LONG, FORMATS[0], 1)]
        for files, fmt, thin in stages:
            verdict = None
            if files == INSTRUCTIONS:
                verdict = self.counted and self.instructions(bench)
            elif files == EXPLORER:
                verdict = self.explore(os.path.basename(path), bench)
            elif other(fmt):
                verdict = self.run_tests(path, m.line, files, fmt, thin, bench)
            if verdict:
                return verdict
        return "survived", "-"

    # Is the line compiled at all; what is not is no less wrong for that.
    def compiled(self, path, m, bench):
        text = read(path)
        if not any(first <= m.line <= last for _, first, last in self.functions[path]):
            return True
        lines = text.splitlines(True)
        bench.write(path, "".join(lines[: m.line - 1] + ["#error\n"] + lines[m.line - 1 :]))
        return any(bench.code(fmt) is None for fmt in FORMATS + MORE_FORMATS)

    # ---- the explorer ----

    @staticmethod
    def pairs(tool):
        out = call([tool, "explore", "--list"])
        rows = out.decode().split("\npairs:\n")[1].split("\n\n")[0].splitlines() if out else []
        return [row.split() for row in rows]

    def explore(self, name, bench):
        walkers = EXPLORED.get(name)
        if not walkers or not self.objects:
            return None
        for fmt, model in EXPLORE_ORDERS:
            args = ["-O1", "-c", "-DPTB_USER_EXPLORE", "-DPTB_EXPLORE_SMALL", "-DPTB_LINE=4"]
            args += ["-DPTB_FMT_HEADER=\"fmt/%s.h\"" % fmt]
            args += ["-DFMT_CONT=4"] if fmt == "arm64" else []
            if not bench.compile(args, "backends/user/explore.c", "small.o"):
                return None
            objects = [o for o in self.objects if not o.endswith("/fmt/%s.small.o" % fmt)]
            tool = bench.out("ptebatch")
            if call(["gcc", bench.out("small.o"), *objects, "-lzstd", "-o", tool]) is None:
                return None
            for walker, against in self.pairs(tool):
                if walker in walkers and self.violates(tool, walker, against, fmt, model):
                    return "killed", "explore %s %s %s %s" % (walker, against, fmt, model)
        return None

    @staticmethod
    def violates(tool, walker, against, fmt, model):
        args = [tool, "explore", "--walker", walker, "--against", against, "--format", fmt]
        args += ["--model", model, "--bound", EXPLORE_BOUND]
        try:
            done = subprocess.run(
                args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120
            )
        except subprocess.TimeoutExpired:
            return True
        return done.returncode not in (0, 2)

    # ---- the budget: right, but slow ----

    def instructions(self, bench):
        """None too if the budget is another compiler's: then unchanged code is over it."""
        if not self.objects:
            return None
        args = ["-DPTB_FMT_HEADER=\"fmt/x86_64.h\"", "-DPTB_USER_VMEMMAP", "-I" + bench.include]
        compiler = os.environ["BENCH_CC"].split()
        source, out = "backends/user/bench/ptebatch.c", bench.out("counted.o")
        if call([compiler[0], *args, *compiler[1:], "-w", "-c", source, "-o", out]) is None:
            return None
        objects = [o for o in self.objects if not o.endswith("/bench/ptebatch.o")]
        tool, counts = bench.out("counted"), bench.out("instructions.tsv")
        if call(["gcc", out, *objects, "-lzstd", "-o", tool]) is None:
            return None
        if call(["tests/bench/instructions.sh", tool, counts], 120) is None:
            return "killed", "instructions cannot be counted"
        over = subprocess.run(
            ["tests/bench/gates.sh", "--compare", counts, "tests/bench/budget.tsv"],
            stdout=subprocess.PIPE,
            text=True,
        )
        bad = [line for line in over.stdout.splitlines() if line.startswith("not ok ")]
        return ("killed", "instructions " + bad[0].split()[5]) if bad else None

    # ---- all of them ----

    def each(self, jobs, fn, what):
        count, begin = 0, time.time()

        def run(job):
            if halt.is_set():
                return
            with self.lock:
                bench = self.free.pop()
            try:
                fn(job, bench)
            except BaseException:
                halt.set()
                raise
            finally:
                with self.lock:
                    self.free.append(bench)

        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for future in concurrent.futures.as_completed([pool.submit(run, j) for j in jobs]):
                future.result()
                count += 1
                if sys.stderr.isatty() or os.environ.get("PROGRESS"):
                    print(
                        "\r%s: %d of %d, %d s " % (what, count, len(jobs), time.time() - begin),
                        end="",
                        file=sys.stderr,
                        flush=True,
                    )
        if sys.stderr.isatty():
            print("\r%50s\r" % "", end="", file=sys.stderr, flush=True)

    def one(self, job, bench):
        path, text, m = job
        bench.write(path, mutations.apply(text, m))
        try:
            result, by = self.judge(path, m, bench)
        finally:
            bench.write(path, text)
        self.done(path, text, m, result, by)

    def run(self):
        self.objects = os.environ.get("TOOL_OBJECTS", "").split()
        jobs = list(self.mutants())
        self.resume()
        todo = [j for j in jobs if self.key(*j) not in self.rows]
        if todo:
            self.prepare()
            self.each(todo, self.one, "mutants")
        return self.report(jobs)

    def report(self, jobs):
        count = {"killed": 0, "survived": 0, "equivalent": 0, "invalid": 0}
        unexplained = 0
        with open(self.table, "w") as f:
            print("file\tline\tmutation\tresult\tkilled_by", file=f)
            for job in jobs:
                row = self.rows[self.key(*job)]
                count[row[3]] += 1
                if row[3] == "invalid":
                    continue
                print("\t".join(row), file=f)
                name = self.names[self.key(*job)]
                if row[3] == "survived" and name not in self.explained:
                    print("line %s: %s" % (row[1], name))
                    unexplained += 1
            summary = "%d mutants, %d killed, %d survived, %d equivalent" % (
                len(jobs) - count["invalid"],
                count["killed"],
                count["survived"],
                count["equivalent"],
            )
            print(summary, file=f)
        print(summary)
        stale = [name for name in self.explained if name not in self.names.values()]
        for name in stale if not os.environ.get("ONLY") else []:
            print("survivors.txt: no such mutant: %s" % name)
            unexplained += 1
        return 1 if unexplained else 0


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
    return Mutate(sys.argv[1]).run()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        halt.set()
        sys.exit(1)
