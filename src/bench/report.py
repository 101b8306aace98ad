"""Turns slices into report.md, slices.csv and plots."""

import csv
import math
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import time
import zipfile

from generator import CLOSED

try:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot, ticker
except ImportError:
    pyplot = None

PUBLISHED = pathlib.Path(__file__).resolve().parent / "published.csv"
NO_PLOTS = f"no plots: {sys.executable} has no matplotlib (Debian: python3-matplotlib, for /usr/bin/python3)"
PERCENTS = (50, 99, 99.9, 100)
SLICE_FIELDS = ("target", "load", "round", "offered", "answered", "good", "requests", "failed", "socket_errors", "seconds",
                "cpu_seconds", "micros", "switches", "preemptions", "generator_cpu_seconds", "others")
COLUMNS = ("connections", "offered/s", "target", "answered/s", "failed", "µs CPU a request", "ratio", "p50 ms", "p99 ms",
           "p99.9 ms", "max ms", "switches, preempted")
LEGEND = """CPU is user and system time of all threads of the server's processes, per request. In brackets: the smallest and the
largest of the slices. *Ratio* is the CPU of a request against the first target's in the same round: the median. Latency of a
constant rate is from the instant at which a request was due (HdrHistogram of all slices together); of a closed loop from its
sending (the median of the slices). *Switches* are those that a thread asked for by waiting, and those that it was preempted by,
per request."""
STYLE = {"figure.figsize": (8, 4.5), "figure.constrained_layout.use": True, "svg.fonttype": "none",
         "font.family": "sans-serif", "font.size": 10, "axes.grid": True, "axes.axisbelow": True, "grid.color": "#dddddd",
         "axes.spines.top": False, "axes.spines.right": False, "axes.titlesize": 11, "axes.titlelocation": "left",
         "legend.frameon": False, "lines.linewidth": 1.8, "lines.markersize": 5}


class Report:
    """Rewritten after each load, so that an interrupted run leaves its figures."""

    def __init__(self, out, targets, options, command):
        self.out, self.targets, self.options, self.command = out, targets, options, command
        self.began = time.strftime("%Y-%m-%d %H:%M %Z")
        self.loads = {}
        if not pyplot:
            print(NO_PLOTS, flush=True)

    def add(self, slices):
        taken = list(slices)
        self.loads[taken[0].load] = taken
        self._write()

    def _write(self):
        plots = self._plots() if pyplot else []
        parts = [self._head(), *(self._table(name) for name in self._workloads()), self._probe_table(),
                 *(f"![{title}]({file})" for title, file in plots), "" if pyplot else NO_PLOTS, published(self.options.preset)]
        (self.out / "report.md").write_text("\n\n".join(part for part in parts if part) + "\n")
        with (self.out / "slices.csv").open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(SLICE_FIELDS)
            rows.writerows([getattr(piece, field) for field in SLICE_FIELDS] for piece in self._slices())

    def _workloads(self):
        return list(dict.fromkeys(load.workload for load in self.loads))

    def _slices(self, target=None):
        return [piece for slices in self.loads.values() for piece in slices if target in (None, piece.target)]

    def _names(self):
        return [target.name for target in self.targets]

    # Text.

    def _head(self):
        options = self.options
        others = statistics.median(piece.others for piece in self._slices())
        rounds = (f"{options.rounds} slices of {options.seconds} s on each target, in turn" if options.rounds > 1
                  else f"{options.seconds} s on each target, one after the other")
        replicas = f", replicas={options.replicas}" if options.replicas else ""
        conditions = (f"{rounds}, after {options.warm_up} s of warming up; {options.keys} keys, values of "
                      f"{options.value_bytes} bytes{replicas}. The load generator runs on the same machine; what else ran "
                      f"there took {others:.0%} of its CPU time.")
        targets = table(("target", "started", "code", "JVM"), [describe(target) for target in self.targets])
        return "\n\n".join([f"# {', '.join(self._names())}: {options.preset}", f"{self.began}. {machine()}.",
                            f"```\n{self.command}\n```", conditions, targets, LEGEND])

    def _table(self, workload):
        rows = [self._row(load, [piece for piece in slices if piece.target == name], slices)
                for load, slices in self.loads.items() if load.workload == workload for name in self._names()]
        return f"## {workload}\n\n" + table(COLUMNS, rows)

    def _row(self, load, own, slices):
        requests = sum(piece.requests for piece in own)
        failed = sum(piece.failed + piece.socket_errors for piece in own)
        multiple = f" ({load.rate})" if load.rate.endswith("x") else ""
        offered = "closed loop" if own[0].offered is None else f"{own[0].offered:,.0f}{multiple}"
        shown = latencies(own)
        switches, preemptions = (sum(getattr(piece, each) for piece in own) / max(1, requests)
                                 for each in ("switches", "preemptions"))
        return (load.connections, offered, own[0].target, f"{statistics.median(piece.answered for piece in own):,.0f}",
                f"{failed:,} of {requests:,}", spread([piece.micros for piece in own], 1), ratio(own, slices),
                *(figure(shown.get(percent)) for percent in PERCENTS), f"{switches:.2f}, {preemptions:.2f}")

    def _probe_table(self):
        rows = []
        for load, slices in self.loads.items():
            for name in self._names():
                own = [piece for piece in slices if piece.target == name]
                answers = [answer for piece in own for answer in piece.probe]
                if answers:
                    good = accepted(answers)
                    shed = sum(status == 503 for status, _ in answers)
                    goodput = f"{statistics.median(piece.good for piece in own):,.0f}"
                    rows.append((load, name, goodput, len(answers), len(good), shed, len(answers) - len(good) - shed,
                                 figure(percentile(good, 50)), figure(percentile(good, 99))))
        if not rows:
            return ""
        return (f"## Beside it, single requests\n\n{self.options.probe}/s on connections of their own; *accepted* are 2xx and "
                "404, *shed* 503.\n\n" + table(("load", "target", "good/s of all", "sent", "accepted", "shed",
                                                "other, or no answer", "p50 ms of the accepted", "p99 ms"), rows))

    # Pictures.

    def _plots(self):
        with pyplot.rc_context(STYLE):
            plots = [self._latency(load) for load, slices in self.loads.items() if any(piece.spectrum for piece in slices)]
            for workload in self._workloads():
                plots.append(self._cost(workload))
                for connections in dict.fromkeys(load.connections for load in self.loads):
                    loads = [load for load in self.loads
                             if load.workload == workload and load.connections == connections and load.rate != CLOSED]
                    if len(loads) > 2:
                        plots.append(self._sweep(workload, connections, loads))
        return plots

    def _save(self, picture, title, file):
        picture.savefig(self.out / file)
        pyplot.close(picture)
        return title, file

    def _latency(self, load):
        picture, axes = pyplot.subplots()
        for name in self._names():
            steps = merged([piece for piece in self.loads[load] if piece.target == name])
            total = sum(count for _, count in steps)
            beyond, points = total, []
            for value, count in steps:
                beyond -= count
                points.append((total / max(beyond, 0.5), value))
            axes.plot([point[0] for point in points], [point[1] for point in points], drawstyle="steps-pre", label=name)
        axes.set(xscale="log", yscale="log", xlabel="percentile", ylabel="ms since the request was due",
                 title=f"{load.workload}, {load.connections} connections, {per_second(load.rate)}")
        axes.set_xlim(2, None)
        axes.set_ylim(0.7 * min(piece.percentiles.get(50, 1) for piece in self.loads[load]), None)
        nines = [2, 10, 100, 1000, 10_000, 100_000, 1_000_000]
        most = axes.get_xlim()[1]
        axes.xaxis.set_major_locator(ticker.FixedLocator([each for each in nines if each <= most]))
        axes.xaxis.set_major_formatter(lambda value, _: f"{100 - 100 / value:.6g}%")
        axes.xaxis.set_minor_locator(ticker.NullLocator())
        plain(axes.yaxis)
        axes.legend()
        return self._save(picture, f"latency, {load}", f"latency-{load}.svg")

    def _cost(self, workload):
        """Bars where there is one rate, else lines by rate; whiskers from the smallest to the largest slice."""
        loads = [load for load in self.loads if load.workload == workload]
        picture, axes = pyplot.subplots()
        by_rate = len({load.rate for load in loads}) > 1 and len({load.connections for load in loads}) == 1 \
            and all(load.rate != CLOSED for load in loads)
        for number, name in enumerate(self._names()):
            owns = [[piece for piece in self.loads[load] if piece.target == name] for load in loads]
            middles = [statistics.median(piece.micros for piece in own) for own in owns]
            whiskers = [[middle - min(piece.micros for piece in own) for middle, own in zip(middles, owns)],
                        [max(piece.micros for piece in own) - middle for middle, own in zip(middles, owns)]]
            if by_rate:
                axes.errorbar([own[0].offered for own in owns], middles, whiskers, marker="o", capsize=3, label=name)
            else:
                width = 0.8 / len(self.targets)
                places = [place + (number - (len(self.targets) - 1) / 2) * width for place in range(len(loads))]
                bars = axes.bar(places, middles, width * 0.92, yerr=whiskers, capsize=3, label=name,
                                error_kw={"elinewidth": 1, "ecolor": "#444444"})
                axes.bar_label(bars, [f"{middle:.1f}" for middle in middles], label_type="center", color="white")
        if by_rate:
            rates(axes)
        else:
            axes.set_xticks(range(len(loads)), [f"{load.connections} connections\n{per_second(load.rate)}" for load in loads])
            axes.grid(visible=False, axis="x")
        axes.set(ylabel="µs CPU a request", title=f"{workload}: cost of a request")
        axes.set_ylim(0, axes.get_ylim()[1] * 1.15)
        axes.legend(ncols=3, loc="upper right")
        return self._save(picture, f"cost, {workload}", f"cost-{workload}.svg")

    def _sweep(self, workload, connections, loads):
        """Goodput, refused requests and latency, by the offered rate."""
        picture, panels = pyplot.subplots(3, 1, sharex=True, figsize=(8, 9))
        probed = any(piece.probe for load in loads for piece in self.loads[load])
        offered_rates = []
        for number, name in enumerate(self._names()):
            color = f"C{number}"
            points = sorted(([piece for piece in self.loads[load] if piece.target == name] for load in loads),
                            key=lambda own: own[0].offered)
            offered = [own[0].offered for own in points]
            offered_rates += offered
            good = [statistics.median(piece.good for piece in own) for own in points]
            bad = [statistics.median((piece.failed + piece.socket_errors) / piece.seconds for piece in own) for own in points]
            panels[0].plot(offered, good, marker="o", color=color, label=name)
            panels[1].plot(offered, bad, marker="o", color=color)
            for percent, line in (50, "-"), (99, "--"):
                if probed:
                    shown = [percentile(accepted([answer for piece in own for answer in piece.probe]), percent) for own in points]
                else:
                    shown = [latencies(own).get(percent) for own in points]
                panels[2].plot(offered, [math.nan if value is None else value for value in shown], line, marker="o", color=color)
        least, most = min(offered_rates), max(offered_rates)
        diagonal = [least * (most / least) ** (step / 100) for step in range(101)]
        panels[0].plot(diagonal, diagonal, ":", color="#888888", linewidth=1, label="all that was offered")
        panels[0].set(ylabel="goodput, 2xx/s", title=f"{workload}, {connections} connections")
        panels[0].set_ylim(0, 1.3 * max(piece.good for load in loads for piece in self.loads[load]))
        panels[0].yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        panels[1].set(ylabel="refused or failed/s")
        panels[1].set_ylim(bottom=0)
        panels[1].yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        panels[2].set(yscale="log", ylabel=f"ms, {'accepted' if probed else 'all answers'}: p50, p99 dashed")
        rates(panels[2])
        plain(panels[2].yaxis)
        panels[0].legend(ncols=3, loc="lower right")
        return self._save(picture, f"overload, {workload}", f"sweep-{workload}-{connections}c.svg")


def rates(axes):
    axes.set(xscale="log", xlabel="offered requests/s")
    plain(axes.xaxis)


def plain(axis):
    """Formats numbers on a logarithmic axis as people write them; a short axis has some between the powers of ten."""
    axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axis.set_minor_locator(ticker.LogLocator(subs=(2, 5)))
    axis.set_minor_formatter(lambda value, _: f"{value:,.10g}")
    axis.set_tick_params(which="both", length=3.5, pad=3.5)


def table(columns, rows):
    return "\n".join([row(*columns), "|" + "---|" * len(columns), *(row(*cells) for cells in rows)])


def row(*cells):
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def per_second(rate):
    return "closed loop" if rate == CLOSED else f"{rate[:-1]} times its limit" if rate.endswith("x") else f"{float(rate):,.0f}/s"


def figure(value):
    """Formats a number with three significant digits."""
    if value is None or math.isnan(value):
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def spread(values, digits):
    middle = f"{statistics.median(values):.{digits}f}"
    return middle if len(values) == 1 else f"{middle} ({min(values):.{digits}f}–{max(values):.{digits}f})"


def ratio(own, slices):
    first = {piece.round: piece.micros for piece in slices if piece.target == slices[0].target}
    if own[0].target == slices[0].target:
        return "1"
    return spread([piece.micros / first[piece.round] for piece in own], 2)


def merged(slices):
    return sorted(step for piece in slices for step in piece.spectrum)


def latencies(slices):
    """{percent: ms}."""
    steps = merged(slices)
    if not steps:
        return {percent: statistics.median(values) for percent in PERCENTS
                if (values := [piece.percentiles[percent] for piece in slices if percent in piece.percentiles])}
    total = sum(count for _, count in steps)
    shown = {}
    for percent in PERCENTS:
        so_far = 0
        for value, count in steps:
            so_far += count
            if so_far >= total * percent / 100:
                shown[percent] = value
                break
    return shown


def accepted(answers):
    return sorted(took for status, took in answers if 200 <= status < 300 or status == 404)


def percentile(ordered, percent):
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))] if ordered else None


def machine():
    model = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores of {model[1] if model else platform.processor()}, {memory:.0f} GiB, Linux {platform.release()}"


def describe(target):
    """Returns (name, how it was started, commit, JVM)."""
    process = pathlib.Path("/proc") / target.pids[0]
    arguments = process.joinpath("cmdline").read_text().split("\0")
    release = process.joinpath("exe").resolve().parents[1] / "release"
    version = re.search(r'^JAVA_RUNTIME_VERSION="([^"]+)"', release.read_text(), re.M) if release.is_file() else None
    flags = " ".join(argument for argument in arguments if argument.startswith("-X"))
    jar = arguments[arguments.index("-jar") + 1] if "-jar" in arguments else ""
    return target.name, f"`{target.origin}`", commit(process / "cwd" / jar), f"{version[1] if version else 'not known'} {flags}"


def commit(jar):
    try:
        with zipfile.ZipFile(jar) as archive:
            lines = archive.read("BOOT-INF/classes/git.properties").decode().splitlines()
    except (OSError, zipfile.BadZipFile):
        return "not known"
    except KeyError:
        return f"src/bench at {head()}"
    properties = dict(line.split("=", 1) for line in lines if "=" in line)
    return properties["git.commit.id.abbrev"] + (" and changes" if properties.get("git.dirty") == "true" else "")


def head():
    done = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=PUBLISHED.parent,
                          capture_output=True, text=True)
    return done.stdout.strip() or "not known"


def published(preset):
    """Returns a table of the figures that the courses' servers have published for these loads."""
    if not PUBLISHED.is_file():
        return ""
    with PUBLISHED.open(newline="") as file:
        rows = [each for each in csv.DictReader(file) if each["preset"] == preset]
    if not rows:
        return ""
    columns = [column for column in rows[0] if column != "preset"]
    return "## What the courses' servers have published\n\n" + table(columns, [[each[column] for column in columns] for each in rows])
