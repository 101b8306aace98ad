"""Parts that scripts share: a node as a process, clients that count their requests, ranges, a disk in a file."""

import concurrent.futures
import contextlib
import functools
import http.client
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[3]
DEFAULT_JAR = ROOT / "target" / "kvorum.jar"
START_SECONDS = 60
CANNOT_RUN = 77


def cannot_run(reason):
    """Ends the script with the exit code that says "nothing was tested"."""
    print(f"cannot run here: {reason}", file=sys.stderr)
    sys.exit(CANNOT_RUN)


def fail(reason):
    sys.exit(f"FAILED: {reason}")


def need(*commands, root=False):
    if root and os.geteuid() != 0:
        cannot_run("this needs root, for loop devices and mounts")
    for command in commands:
        if not shutil.which(command):
            cannot_run(f"this needs the command {command}")


@functools.cache
def java():
    """The path of the java command that src/main/scripts/find-java finds."""
    found = subprocess.run([ROOT / "src" / "main" / "scripts" / "find-java"], capture_output=True, text=True)
    if found.returncode:
        cannot_run(found.stderr.strip())
    return found.stdout.strip()


class Node:
    """One node on a free port of the loopback interface."""

    host = "127.0.0.1"
    heap = "192m"  # as -Xmx takes it
    tls = None  # an SSLContext where the port speaks TLS

    def __init__(self, jar, data, log, wait=True, heap=heap, **properties):
        if not pathlib.Path(jar).is_file():
            fail(f"{jar} is not there; build it with mvn package")
        self.jar = pathlib.Path(jar)
        self.data = pathlib.Path(data)
        self.log = pathlib.Path(log)
        self.heap = heap
        self.settings = {"server.port": 0, "server.address": "127.0.0.1", "kvorum.storage.path": data, **properties}
        self.start()
        if wait:
            self.await_ready()

    def start(self):
        """Starts it, also again after its end, then on another port. await_ready() waits until it is ready."""
        cache = self.jar.with_suffix(".aot")  # src/main/scripts/aot-cache leaves it beside the jar
        command = [java(), f"-Xms{self.heap}", f"-Xmx{self.heap}", *([f"-XX:AOTCache={cache}"] if cache.is_file() else []),
                   "-jar", str(self.jar),
                   *(f"--{name}={value}" for name, value in self.settings.items())]
        with self.log.open("wb") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)

    def await_ready(self):
        self.port = self._await_ready()

    def _await_ready(self):
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            port = re.search(r"Netty started on port (\d+)", self.log.read_text(errors="replace"))
            if port and self._is_ready(int(port[1])):
                return int(port[1])
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(0.05)
        self.kill()
        fail(f"the node did not start. Its log:\n{self.tail()}")

    def _is_ready(self, port):
        try:
            return Client(port, self.host, self.tls).send("GET", "/actuator/health/readiness")[0] == 200
        except OSError:
            return False

    def kill(self):
        self.process.kill()
        self.process.wait()

    def pause(self):
        """Until resume() it answers nothing, and its connections stay open."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        """Sends SIGTERM; returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(START_SECONDS)

    def health(self, component):
        """Returns the details of a health component."""
        return json.loads(Client(self.port, self.host).send("GET", "/actuator/health")[1])["components"][component]["details"]

    def is_member(self):
        """Whether it has found all others and may vote."""
        convergence = self.health("convergence")
        there = all(state == "there" for state in self.health("cluster")["peers"].values())
        return there and convergence["membership"] == "member" and "doubt" not in convergence

    def has_converged(self):
        return self.health("convergence")["converged"]

    def metric(self, name):
        """Returns the sum of all samples whose line begins with this name, tags included."""
        lines = Client(self.port).send("GET", "/actuator/prometheus")[1].decode().splitlines()
        return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith((name + " ", name + "{"))
                   or "{" in name and line.startswith(name))

    def tail(self):
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-40:])


def free_ports(count):
    with contextlib.ExitStack() as sockets:
        bound = [sockets.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in bound]


def start_cluster(jar, directory, count, fixed_ports=False, **properties):
    """Starts nodes that know each other on free ports, optionally with the same ports after a restart. Returns them when each
    has found all others and may vote."""
    ports = free_ports(2 * count)
    addresses = [f"http://127.0.0.1:{port}" for port in ports[:count]]
    nodes = []
    try:
        for number, (address, port) in enumerate(zip(addresses, ports[count:]), 1):
            cluster = {"kvorum.cluster.self": address, "kvorum.cluster.nodes": ",".join(addresses)}
            if fixed_ports:
                cluster["server.port"] = port
            nodes.append(Node(jar, directory / f"data-{number}", directory / f"node-{number}.log", wait=False,
                              **cluster, **properties))
        for node in nodes:
            node.await_ready()
        await_all(nodes, Node.is_member, START_SECONDS)
    except BaseException:
        for node in nodes:
            node.kill()
        raise
    return nodes


def await_all(nodes, condition, seconds):
    """Waits until a condition holds for each of the nodes."""
    deadline = time.monotonic() + seconds
    for node in nodes:
        while not condition(node):
            if time.monotonic() > deadline:
                fail(f"not within {seconds} s: {condition.__name__} of the node on {node.port}, which says "
                     f"{node.health('convergence')}:\n{node.tail()}")
            time.sleep(0.05)


class Client:
    """One keep-alive connection. It never repeats a write; an OSError means that there was no answer."""

    def __init__(self, port, host="127.0.0.1", tls=None):
        self.connection = (http.client.HTTPSConnection(host, port, timeout=30, context=tls) if tls else
                           http.client.HTTPConnection(host, port, timeout=30))

    def send(self, method, target, body=None, headers=None):
        """Returns (status, body)."""
        try:
            self.connection.request(method, target, body, headers or {})
            response = self.connection.getresponse()
            return response.status, response.read()
        except http.client.HTTPException as broken:
            self.connection.close()
            raise ConnectionError(broken) from broken
        except OSError:
            self.connection.close()
            raise

    def put(self, key, value):
        return self.send("PUT", entity(key), value, {"Content-Type": "application/octet-stream"})[0]

    def get(self, key):
        return self.send("GET", entity(key))


def entity(key):
    """Returns the target of a request for a key, given as text or as bytes."""
    return "/v0/entity?id=" + urllib.parse.quote(key, safe="")


def value_of(key, size):
    return random.Random(key).randbytes(size)


class Writers:
    """Threads that put keys, each once, and remember which were acknowledged and how the others were refused."""

    def __init__(self, port, name, size, threads=8):
        self.size = size
        self.acknowledged = []
        self.answers = {}
        self.stopped = threading.Event()
        self.lock = threading.Condition()
        self.threads = [
            threading.Thread(target=self._run, args=(Client(port), f"{name} {number}"), daemon=True)
            for number in range(threads)
        ]
        for thread in self.threads:
            thread.start()

    def _run(self, client, name):
        for number in itertools.count():
            if self.stopped.is_set():
                return
            key = f"{name} {number}"
            try:
                status = client.put(key, value_of(key, self.size))
            except OSError:
                status = "no answer"
            with self.lock:
                self.answers[status] = self.answers.get(status, 0) + 1
                if status == 201:
                    self.acknowledged.append(key)
                self.lock.notify_all()
            if status == "no answer":
                return

    def wait_for(self, condition, seconds):
        """Waits until condition(self) holds after an answer; returns whether it did."""
        with self.lock:
            return self.lock.wait_for(lambda: condition(self), seconds)

    def stop(self):
        self.stopped.set()
        for thread in self.threads:
            thread.join()
        return self


def load(url, entries, connections=32, pipelined=16):
    """Puts (key, value)s over several connections, many at once on each; returns how many. Ends the script if one fails."""
    entries = iter(entries)
    lock = threading.Lock()

    def put_some(_):
        count = 0
        with connect(url) as connection:
            while True:
                with lock:
                    some = list(itertools.islice(entries, pipelined))
                if not some:
                    return count
                connection.sendall(b"".join(put_request(key, value) for key, value in some))
                answers = b""
                while answers.count(b"\r\n\r\n") < len(some):
                    received = connection.recv(1 << 16)
                    if not received:
                        raise ConnectionError("the connection ended while loading")
                    answers += received
                if answers.count(b"HTTP/1.1 201 ") < len(some):
                    raise ConnectionError(f"a PUT failed: {answers.decode(errors='replace')}")
                count += len(some)

    try:
        with concurrent.futures.ThreadPoolExecutor(connections) as threads:
            return sum(threads.map(put_some, range(connections)))
    except OSError as broken:
        fail(f"loading: {broken}")


def connect(url, receive_buffer_bytes=0):
    parts = urllib.parse.urlsplit(url)
    connection = socket.socket()
    if receive_buffer_bytes:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
    connection.settimeout(300)
    connection.connect((parts.hostname, parts.port or 80))
    return connection


def put_request(key, value):
    return f"PUT {entity(key)} HTTP/1.1\r\nHost: kvorum\r\nContent-Length: {len(value)}\r\n\r\n".encode() + value


class Range:
    """A range that is read as fast as Python can: chunks are counted, not parsed."""

    LINES = "application/x-ndjson"

    def __init__(self, url, start, end, scope="cluster", accept="*/*", receive_buffer_bytes=0):
        self.began = time.monotonic()
        self.connection = connect(url, receive_buffer_bytes)
        query = urllib.parse.urlencode({"start": start, "end": end, "scope": scope})
        self.connection.sendall(f"GET /v0/entities?{query} HTTP/1.1\r\nHost: kvorum\r\nAccept: {accept}\r\n\r\n".encode())
        self.lines = accept == self.LINES
        self.entries = 0
        self.bytes = 0
        self.whole = False
        answer = b""
        while b"\r\n\r\n" not in answer:
            received = self.connection.recv(1 << 16)
            if not received:
                fail("the connection ended before an answer to a range")
            answer += received
        head, self.received = answer.split(b"\r\n\r\n", 1)
        if not head.startswith(b"HTTP/1.1 200 "):
            fail(f"a range was answered with {answer.decode(errors='replace')}")
        while not self.received:
            self.received = self.connection.recv(1 << 16)
        self.first_byte_seconds = time.monotonic() - self.began

    def read(self):
        """Reads to the end; self.whole says whether that was the end of the range. Returns itself."""
        data, at, entries, size, room = self.received, 0, 0, 0, memoryview(bytearray(1 << 20))
        lines = 0
        while True:
            end = data.find(b"\r\n", at)
            if end >= 0:
                length = int(data[at:end], 16)
                end += 2
                following = end + length + 2
                if following <= len(data):
                    if not length:
                        self.whole = True
                        break
                    entries += 1
                    size += length
                    if self.lines:
                        lines += data.count(b"\n", end, end + length)
                    at = following
                    continue
            received = self.connection.recv_into(room)
            if not received:
                break
            data, at = data[at:] + room[:received], 0
        # The last line is not an entry.
        self.entries, self.bytes = lines - 1 if self.lines else entries, size
        self.seconds = time.monotonic() - self.began
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()


def cpu_seconds(pids):
    """Returns the user and system time of all threads of these processes."""
    return sum(map(cpu_seconds_of, pids))


def cpu_seconds_of(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_bytes(pid, name="VmRSS"):
    """Returns the resident memory of a process; the most it ever had with the name VmHWM."""
    return int(re.search(rf"^{name}:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)[1]) << 10


def lost(port, keys, size):
    """Returns the keys whose value is not there byte for byte."""
    client = Client(port)
    return [key for key in keys if client.get(key) != (200, value_of(key, size))]


@contextlib.contextmanager
def workspace(parent=None):
    """A directory that is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="kvorum-", dir=parent) as directory:
        yield pathlib.Path(directory)


class Disk:
    """An ext4 file system in a file, on a loop device."""

    def __init__(self, directory, megabytes):
        self.image = directory / "disk.img"
        self.mount_point = directory / "disk"
        self.mount_point.mkdir()
        with self.image.open("wb") as image:
            image.truncate(megabytes << 20)
        run("mkfs.ext4", "-q", "-F", self.image)

    def mount(self):
        try:
            run("mount", "-o", "loop", self.image, self.mount_point)
        except subprocess.CalledProcessError as refused:
            cannot_run(f"loop mounts are not possible: {refused.stderr.strip()}")

    def unmount(self):
        run("umount", self.mount_point)

    def __enter__(self):
        self.mount()
        return self

    def __exit__(self, *_):
        if os.path.ismount(self.mount_point):
            self.unmount()


def run(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)


def end_on_sigterm():
    """Lets `with` and `finally` clean up when the script is told to end."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
