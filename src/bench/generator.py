"""Runs wrk (a closed loop) or wrk2 (a constant rate) for a moment and reads what it prints."""

import dataclasses
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "test" / "scripts"))
import kvorum_node as kvorum  # noqa: E402

WORKLOADS = pathlib.Path(__file__).resolve().parent / "wrk"
OF_NEW_KEYS = {"put-unique", "put-overwrite"}
CLOSED = "closed"
# Added to the duration: for connecting, and for late answers.
GRACE_SECONDS = 20
PROBE_CONNECTIONS = 64
MILLIS = {"us": 1e-3, "ms": 1, "s": 1e3, "m": 6e4, "h": 3.6e6}


def workloads():
    return sorted(file.stem for file in WORKLOADS.glob("*.lua") if file.stem != "workload")


@dataclasses.dataclass(frozen=True)
class Load:
    """One cell of the matrix. A rate is "closed", requests/s, or a multiple of the closed loop's ("2x")."""

    workload: str
    connections: int
    rate: str

    def __str__(self):
        return f"{self.workload}-{self.connections}c-{self.rate}"


@dataclasses.dataclass
class Slice:
    """The figures of one run of wrk against one target."""

    target: str
    load: Load
    round: int
    offered: float
    seconds: float
    requests: int
    failed: int
    socket_errors: int
    percentiles: dict
    spectrum: list
    cpu_seconds: float = 0
    switches: int = 0
    preemptions: int = 0
    generator_cpu_seconds: float = 0
    others: float = 0
    probe: list = dataclasses.field(default_factory=list)

    @property
    def micros(self):
        return self.cpu_seconds / self.requests * 1e6 if self.requests else float("nan")

    @property
    def answered(self):
        return self.requests / self.seconds

    @property
    def good(self):
        return (self.requests - self.failed) / self.seconds


class Generator:
    def __init__(self, wrk, wrk2, threads, environment):
        self.wrk = wrk
        self.wrk2 = wrk2
        self.threads = threads
        self.environment = {**os.environ, **environment}

    def check(self, rates, warms_up):
        """Ends the script where a program that these rates need is missing."""
        if warms_up or any(rate == CLOSED or rate.endswith("x") for rate in rates):
            kvorum.need(self.wrk)
        if any(rate != CLOSED for rate in rates):
            if not self.wrk2 or not shutil.which(self.wrk2):
                kvorum.cannot_run("a constant rate needs wrk2: --wrk2 PATH, or WRK2 in the environment")
            usage = subprocess.run([self.wrk2, "-v"], capture_output=True, text=True, timeout=GRACE_SECONDS).stdout
            if "--rate" not in usage:
                kvorum.cannot_run(f"{self.wrk2} knows no --rate, so it is not wrk2")

    def run(self, target, load, offered, seconds, round_number=0, probe_rate=0, raw=None):
        """Sends this load for some seconds; offered is None for a closed loop. Returns a Slice."""
        program = [self.wrk] if offered is None else [self.wrk2, "-R", str(max(1, round(offered)))]
        # The default limit of 2 s would count waiting connections as failed.
        command = [*program, "--timeout", f"{seconds + GRACE_SECONDS}s", "-t", str(min(self.threads, load.connections)),
                   "-c", str(load.connections), "-d", f"{seconds}s", "--latency",
                   "-s", str(WORKLOADS / f"{load.workload}.lua"), target.url]
        probe = Probe(target, load, probe_rate, seconds)
        before = Usage(target.pids)
        with probe:
            out = self._call(command, seconds)
        used = Usage(target.pids).minus(before)
        if raw:
            raw.write_text(" ".join(command) + "\n" + out)
        requests, lasted = re.search(r"(\d+) requests in ([\d.]+\w+)", out).groups()
        return Slice(target.name, load, round_number, offered, millis(lasted) / 1e3, int(requests),
                     sum(map(int, re.findall(r"Non-2xx or 3xx responses: (\d+)", out))), socket_errors(out),
                     percentiles(out), spectrum(out), probe=probe.answers, **used)

    def _call(self, command, seconds):
        try:
            done = subprocess.run(command, env=self.environment, capture_output=True, text=True,
                                  timeout=seconds + GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            kvorum.fail(f"no end after {seconds + GRACE_SECONDS} s: {' '.join(command)}")
        if done.returncode or "requests in" not in done.stdout or ".lua:" in done.stderr:
            kvorum.fail(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
        return done.stdout


class Usage:
    """Returns the CPU time that processes, and the whole machine, have used so far."""

    def __init__(self, pids):
        self.cpu_seconds = kvorum.cpu_seconds(pids)
        self.switches, self.preemptions = context_switches(pids)
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        own = resource.getrusage(resource.RUSAGE_SELF)
        self.generator = children.ru_utime + children.ru_stime
        self.own = own.ru_utime + own.ru_stime
        fields = [int(field) for field in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        self.all = sum(fields) / os.sysconf("SC_CLK_TCK")
        self.idle = (fields[3] + fields[4]) / os.sysconf("SC_CLK_TCK")

    def minus(self, before):
        cpu = self.cpu_seconds - before.cpu_seconds
        generator = self.generator - before.generator
        busy = (self.all - before.all) - (self.idle - before.idle)
        others = busy - cpu - generator - (self.own - before.own)
        return {"cpu_seconds": cpu, "switches": self.switches - before.switches,
                "preemptions": self.preemptions - before.preemptions, "generator_cpu_seconds": generator,
                "others": max(0, others) / max(self.all - before.all, 1e-9)}


def context_switches(pids):
    """Returns the context switches of all living threads: voluntary ones and the kernel's."""
    totals = [0, 0]
    for pid in pids:
        for status in pathlib.Path(f"/proc/{pid}/task").glob("*/status"):
            try:
                counts = re.findall(r"^(?:non)?voluntary_ctxt_switches:\s+(\d+)", status.read_text(), re.M)
            except OSError:
                continue
            totals = [total + int(count) for total, count in zip(totals, counts)]
    return totals


class Probe:
    """Sends single requests at a constant rate beside wrk2, which does not report the latency of accepted requests.

    answers: (status, milliseconds since the request was due); 0 is the status where there was no answer.
    """

    def __init__(self, target, load, rate, seconds):
        self.target = target
        self.is_read = load.workload.startswith("get-")
        self.rate = rate
        self.count = int(rate * seconds)
        self.answers = []
        self.lock = threading.Lock()
        self.sent = 0
        self.threads = [threading.Thread(target=self._run, daemon=True)
                        for _ in range(min(PROBE_CONNECTIONS, self.count))]

    def _run(self):
        client = kvorum.Client(self.target.port, self.target.host)
        while True:
            with self.lock:
                number = self.sent
                self.sent += 1
            if number >= self.count:
                return
            due = self.began + number / self.rate
            time.sleep(max(0, due - time.monotonic()))
            if time.monotonic() > self.began + self.count / self.rate:
                return
            try:
                status = client.get("key00000001")[0] if self.is_read else client.put(f"probe{number}", b"v" * 32)
            except OSError:
                status = 0
            self.answers.append((status, (time.monotonic() - due) * 1e3))

    def __enter__(self):
        self.began = time.monotonic()
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        for thread in self.threads:
            thread.join(GRACE_SECONDS)


def millis(text):
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s|m|h)", text).groups()
    return float(number) * MILLIS[unit]


def socket_errors(out):
    errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", out)
    return sum(map(int, errors.groups())) if errors else 0


def percentiles(out):
    """Returns the first block of percentiles, the one that wrk2 corrects: {percent: ms}."""
    block = re.search(r"Latency Distribution.*\n((?:\s+[\d.]+%\s+\S+\n)+)", out)
    lines = re.findall(r"([\d.]+)%\s+([\d.]+(?:us|ms|s|m|h))", block[1]) if block else []
    return {float(percent): millis(value) for percent, value in lines}


def spectrum(out):
    """Returns wrk2's HdrHistogram as [(ms, count in this step)]; empty for wrk."""
    block = re.search(r"Detailed Percentile spectrum:.*?\n\n(.*?)#\[", out, re.S)
    rows = re.findall(r"^\s+([\d.]+)\s+[\d.]+\s+(\d+)\s", block[1], re.M) if block else []
    steps, so_far = [], 0
    for value, total in rows:
        if int(total) > so_far:
            steps.append((float(value), int(total) - so_far))
        so_far = int(total)
    return steps
